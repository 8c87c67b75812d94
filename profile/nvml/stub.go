//go:build !(linux && cgo)

package nvml

import (
	"runtime"

	"capcli/profile"
)

func init() {
	profile.Sources.Add("nvml", "the GPUs of this box, through NVIDIA's management library", Open)
}

// Built reports whether this build can sample GPUs, which needs Linux and cgo.
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
		"install capcli from a package or an archive, or build it where there is a C compiler (apt install gcc) and CGO_ENABLED is not 0; " + otherSources,
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
