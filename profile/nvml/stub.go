//go:build !(linux && cgo && nvml)

package nvml

import (
	"runtime"

	"capcli/profile"
)

func init() {
	profile.Sources.Add("nvml", "the GPUs of this box, through NVIDIA's management library", Open)
}

// Built reports whether this build can sample GPUs, which needs Linux, cgo and the tag nvml.
const Built = false

// lacking returns the trouble of a build that cannot call NVIDIA's library.
func lacking() *trouble {
	if runtime.GOOS != "linux" {
		return &trouble{
			"open source nvml: it needs Linux, and this is " + runtime.GOOS,
			"sample on the GPU box, and read the files here; " + otherSources,
		}
	}
	return &trouble{
		"open source nvml: this build leaves out the calls of NVIDIA's library",
		"build with `make build-gpu`, which is CGO_ENABLED=1 go build -tags nvml and needs a C compiler; " + otherSources,
	}
}

// Open fails: this build cannot call NVIDIA's library.
func Open(profile.SourceOptions) (profile.Source, error) { return nil, lacking() }

// Examine returns a report that says what this build lacks.
func Examine(profile.SourceOptions) Report {
	out := theBox()
	r := boxReport(out)
	r.fail(lacking())
	return r
}
