# The page of a benchmark: one HTML file that asks for nothing else.
rule report:
    input:
        TABLE_FILES,
        [RESULTS / run.folder / "run.json" for run in ALL_RUNS],
        [RESULTS / run.folder / "scores.json" for run in ALL_RUNS],
        [RESULTS / corpus / "corpus/report.json" for corpus in SETTINGS.corpora],
    output:
        report(
            RESULTS / "report.html",
            caption="../report/page.rst",
            category="Results",
            labels={"file": "page of the benchmark"},
        ),
    log:
        RESULTS / "logs/report.log",
    benchmark:
        RESULTS / "benchmarks/report.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=15,
        gpu=0,
    params:
        settings=as_json(plan.report_settings(SETTINGS, CONFIGURATION)),
        results=RESULTS,
    shell:
        "optok report --settings {params.settings:q} --results {params.results:q} 2>&1 | tee {log:q}"
