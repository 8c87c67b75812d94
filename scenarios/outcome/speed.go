package outcome

import "capcli"

// Speed is what one entry of a scenario's speed block changed: the work of its jobs before and after.
// Work is the GPUs of a job times its run time.
type Speed struct {
	For     string         `json:"for"` // the jobs, in words
	Because string         `json:"because,omitempty"`
	Factor  float64        `json:"factor"` // times as fast
	Off     bool           `json:"off,omitempty"`
	Jobs    int64          `json:"jobs"`
	Before  capcli.GPUTime `json:"work_before_gpu_hours"`
	After   capcli.GPUTime `json:"work_after_gpu_hours"`
}

// Saved returns the GPU time that the entry saves; negative if the jobs get slower.
func (s *Speed) Saved() capcli.GPUTime { return s.Before - s.After }
