# From a translator to the table: export, translate, score.
rule export:
    input:
        lambda wildcards: translator_of(run_of(wildcards)),
    output:
        RESULTS / RUN / "export/model.bin",
        RESULTS / RUN / "export/source.model",
        RESULTS / RUN / "export/target.model",
    log:
        RESULTS / "logs/export" / f"{RUN}.log",
    benchmark:
        RESULTS / "benchmarks/export" / f"{RUN}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
        gpu=0,
    params:
        translator=lambda wildcards, input: Path(input[0]).parent,
        folder=lambda wildcards, output: Path(output[0]).parent,
    shell:
        "optok export --translator {params.translator:q} --output {params.folder:q} 2>&1 | tee {log:q}"


rule translate:
    input:
        model=RESULTS / RUN / "export/model.bin",
        corpus=RESULTS / "{corpus}/corpus/report.json",
    output:
        RESULTS / RUN / "hypotheses.txt",
    log:
        RESULTS / "logs/translate" / f"{RUN}.log",
    benchmark:
        RESULTS / "benchmarks/translate" / f"{RUN}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=240,
        gpu=0,
    params:
        settings=as_json({"decoding": SETTINGS.decoding.model_dump()}),
        export=lambda wildcards, input: Path(input.model).parent,
        text=lambda wildcards: RESULTS / wildcards.corpus / "corpus" / f"test.{plan.languages(wildcards.direction)[0]}",
    shell:
        "optok translate --settings {params.settings:q} --export {params.export:q} --input {params.text:q}"
        " --output {output:q} 2>&1 | tee {log:q}"


rule score:
    input:
        hypotheses=RESULTS / RUN / "hypotheses.txt",
        corpus=RESULTS / "{corpus}/corpus/report.json",
        translator=lambda wildcards: translator_of(run_of(wildcards)),
    output:
        RESULTS / RUN / "scores.json",
    log:
        RESULTS / "logs/score" / f"{RUN}.log",
    benchmark:
        RESULTS / "benchmarks/score" / f"{RUN}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
        gpu=0,
    params:
        corpus=lambda wildcards, input: Path(input.corpus).parent,
        translator=lambda wildcards, input: Path(input.translator[0]).parent,
    shell:
        "optok score --hypotheses {input.hypotheses:q} --corpus {params.corpus:q} --direction {wildcards.direction}"
        " --translator {params.translator:q} --output {output:q} 2>&1 | tee {log:q}"


rule table:
    input:
        [RESULTS / run.folder / "scores.json" for run in ALL_RUNS],
    output:
        report(TABLE_FILES[0], caption="../report/table.rst", category="Results", labels={"file": "table of all runs"}),
        TABLE_FILES[1],
    log:
        RESULTS / "logs/table.log",
    benchmark:
        RESULTS / "benchmarks/table.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        settings=TABLE_SETTINGS,
        results=RESULTS,
    shell:
        "optok table --settings {params.settings:q} --results {params.results:q} 2>&1 | tee {log:q}"
