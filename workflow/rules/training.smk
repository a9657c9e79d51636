# Systems that are trained: a translator from a corpus and its tokenizers.


rule train:
    input:
        train=RESULTS / "{corpus}/corpus/train.parquet",
        valid=RESULTS / "{corpus}/corpus/valid.parquet",
        report=RESULTS / "{corpus}/corpus/report.json",
        tokenizers=tokenizer_files,
    output:
        [RESULTS / RUN / "translator" / name for name in plan.TRANSLATOR_FILES],
        run=RESULTS / RUN / "run.json",
    log:
        RESULTS / "logs/train" / f"{RUN}.log",
    benchmark:
        RESULTS / "benchmarks/train" / f"{RUN}.tsv"
    wildcard_constraints:
        system=systems_of("train"),
    conda:
        "../../environment.yml"
    threads: SETTINGS.training.threads
    resources:
        mem_mb=2000,
        runtime=1440,
        gpu=1,
    params:
        settings=lambda wildcards: as_json(plan.train_settings(SETTINGS, run_of(wildcards))),
        corpus=lambda wildcards, input: Path(input.train).parent,
        tokenizers=lambda wildcards, input: Path(input.tokenizers[0]).parent,
        folder=lambda wildcards, output: Path(output.run).parent,
    shell:
        "optok train --settings {params.settings:q} --name {wildcards.system} --corpus {params.corpus:q}"
        " --tokenizers {params.tokenizers:q} --output {params.folder:q} 2>&1 | tee {log:q}"
