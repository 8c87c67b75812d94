//go:build !(linux && cgo)

package nvml

import "capcli/profile"

func init() {
	profile.Sources.Add("nvml", "the GPUs of this box, through NVIDIA's management library", Open)
}

// Built reports whether this build can sample GPUs, which needs Linux and cgo.
const Built = false

// Open fails: this build cannot call NVIDIA's library.
func Open(profile.SourceOptions) (profile.Source, error) {
	return nil, &trouble{"open source nvml: " + unseen, remedy() + "; " + otherSources}
}

// Examine returns a report that says what this build lacks.
func Examine(profile.SourceOptions) Report {
	r := boxReport(theBox())
	r.add("source", Partly, "smi (nvidia-smi): "+unseen, remedy())
	return r
}
