# Corpora: fetched archives, and one Parquet corpus for each language pair.
rule fetch:
    output:
        Path(SETTINGS.data) / "{archive}",
    log:
        RESULTS / "logs/fetch/{archive}.log",
    benchmark:
        RESULTS / "benchmarks/fetch/{archive}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
        gpu=0,
    params:
        settings=lambda wildcards: as_json(ARCHIVES[str(Path(SETTINGS.data) / wildcards.archive)]),
        data=lambda wildcards, output: Path(output[0]).parent,
    shell:
        "optok fetch --settings {params.settings:q} --output {params.data:q} 2>&1 | tee {log:q}"


rule prepare:
    input:
        archive_of,
    output:
        RESULTS / "{corpus}/corpus/train.parquet",
        RESULTS / "{corpus}/corpus/valid.parquet",
        RESULTS / "{corpus}/corpus/test.parquet",
        report=RESULTS / "{corpus}/corpus/report.json",
    log:
        RESULTS / "logs/prepare/{corpus}.log",
    benchmark:
        RESULTS / "benchmarks/prepare/{corpus}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
        gpu=0,
    params:
        settings=lambda wildcards: as_json(plan.prepare_settings(SETTINGS, wildcards.corpus)),
        archive=lambda wildcards, input: f"--archive {input[0]}" if input else "",
        folder=lambda wildcards, output: Path(output.report).parent,
    shell:
        "optok prepare --settings {params.settings:q} {params.archive} --output {params.folder:q} 2>&1 | tee {log:q}"
