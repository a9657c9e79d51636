"""What the tasks share: batches, schedules, checkpoints, the run log and the training loop."""
