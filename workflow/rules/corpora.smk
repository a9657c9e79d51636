# Corpora: fetched archives, and one Parquet corpus for each language pair.
from optok.corpora.fetch import archive_path

ARCHIVES = {
    str(archive_path(archive["archive"], Path(SETTINGS.data))): archive
    for archive in map(plan.fetch_settings, SETTINGS.corpora.values())
    if archive is not None
}


def archive_of(wildcards):
    """The archive that a corpus comes from, if it comes from one."""
    archive = plan.fetch_settings(SETTINGS.corpora[wildcards.corpus])
    return [] if archive is None else [str(archive_path(archive["archive"], Path(SETTINGS.data)))]


rule fetch:
    output:
        Path(SETTINGS.data) / "{archive}",
    log:
        RESULTS / "logs/fetch/{archive}.log",
    benchmark:
        RESULTS / "benchmarks/fetch/{archive}.tsv"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
        gpu=0,
    params:
        settings=lambda wildcards: as_json(ARCHIVES[str(Path(SETTINGS.data) / wildcards.archive)]),
        data=SETTINGS.data,
    shell:
        "{OPTOK} fetch --settings {params.settings:q} --output {params.data:q} 2>&1 | tee {log:q}"


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
        "{OPTOK} prepare --settings {params.settings:q} {params.archive} --output {params.folder:q} 2>&1 | tee {log:q}"
