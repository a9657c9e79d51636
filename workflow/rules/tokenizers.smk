# Baseline tokenizers: one SentencePiece model for each corpus, tokenizer and language.


rule tokenizer:
    input:
        train=RESULTS / "{corpus}/corpus/train.parquet",
        report=RESULTS / "{corpus}/corpus/report.json",
    output:
        model=RESULTS / "{corpus}/tokenizers/{tokenizer}/{language}.model",
        report=RESULTS / "{corpus}/tokenizers/{tokenizer}/{language}.json",
    log:
        RESULTS / "logs/tokenizer/{corpus}/{tokenizer}/{language}.log",
    benchmark:
        RESULTS / "benchmarks/tokenizer/{corpus}/{tokenizer}/{language}.tsv"
    wildcard_constraints:
        language=r"[A-Za-z0-9_]+",
    conda:
        "../../environment.yml"
    threads: lambda wildcards: SETTINGS.tokenizers[wildcards.tokenizer].threads
    resources:
        mem_mb=2000,
        runtime=240,
        gpu=0,
    params:
        settings=lambda wildcards: as_json(plan.tokenizer_settings(SETTINGS, wildcards.tokenizer, tag_of(wildcards))),
        corpus=lambda wildcards, input: Path(input.train).parent,
        folder=lambda wildcards, output: Path(output.model).parent,
    shell:
        "optok tokenizer train --settings {params.settings:q} --corpus {params.corpus:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"
