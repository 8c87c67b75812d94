package simulate

import "capcli"

// Interruptions is what interruptions did, and what was done about them. Fields are 0 or nil where
// nothing of the kind is switched on.
type Interruptions struct {
	Savings  []Saving       `json:"checkpoints,omitempty"`                 // intervals and costs that were worked out
	StoredMB int64          `json:"checkpoint_storage_mb_hours,omitempty"` // checkpoints in storage over time
	Stopped  int64          `json:"stopped_by_windows,omitempty"`          // times that a window with Kill stopped a job
	Yielded  int64          `json:"preempted_by_policy,omitempty"`         // times that the policy took GPUs away; only with PreemptRules
	Failed   int64          `json:"failed_jobs,omitempty"`                 // given up after too many failures: see Retries
	Skipped  int64          `json:"gpu_failures_left_out,omitempty"`       // on nodes that share GPUs
	Moves    *Moves         `json:"moves,omitempty"`                       // nil without Defragment
	Grace    capcli.GPUTime `json:"grace_gpu_hours,omitempty"`             // held by preempted jobs in their grace
}

// IsEmpty reports whether nothing of the kind is switched on, or nothing happened.
func (i *Interruptions) IsEmpty() bool {
	return len(i.Savings) == 0 && i.StoredMB == 0 && i.Stopped == 0 && i.Yielded == 0 && i.Failed == 0 && i.Skipped == 0 && i.Moves == nil
}

// interruptions returns the figures at the end of the run.
func (e *engine) interruptions() Interruptions {
	if len(e.savings.of) > 0 {
		for l := range e.allOpen() { // their checkpoints are in storage too
			kept, _ := l.rc.progress(l.ran(e.c.now))
			e.savings.firstSaved(l, kept)
			e.savings.store(l)
		}
	}
	var moves *Moves
	if e.cfg.Defragment.Every > 0 {
		moves = &e.defrag.Moves
	}
	return Interruptions{Moves: moves, Savings: e.savings.savingRows(), StoredMB: e.meter.storedMB, Stopped: e.win.killed, Yielded: e.preempts.done, Failed: e.failed, Skipped: e.gpus.skipped, Grace: e.preempts.graceUse}
}
