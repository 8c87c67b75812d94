//go:build !(linux && cgo)

package nvml

import (
	"runtime"

	"capcli/profile"
)

func init() {
	profile.Sources.Add("nvml", "the GPUs of this box, through NVIDIA's management library", Open)
}

// Built tells whether this build can sample GPUs: on Linux, with cgo.
const Built = false

// lacking says what this build lacks.
func lacking() *Trouble {
	if runtime.GOOS != "linux" {
		return &Trouble{
			"open source nvml: it needs Linux, and this is " + runtime.GOOS,
			"sample on the GPU box, and read the files here; " + otherSources,
		}
	}
	return &Trouble{
		"open source nvml: this build has no cgo, through which NVIDIA's library is called",
		"build with CGO_ENABLED=1 and a C compiler on Linux; " + otherSources,
	}
}

// Open fails: this build cannot call NVIDIA's library.
func Open(profile.SourceOptions) (profile.Source, error) { return nil, lacking() }

// Examine says what this build lacks.
func Examine(profile.SourceOptions) Report {
	out := theBox()
	r := boxReport(out)
	r.fail(lacking())
	return r
}
