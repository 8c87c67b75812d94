//go:build !(linux && cgo)

package nvml

import (
	"errors"
	"strings"
	"testing"

	"capcli/profile"
)

func TestOpenSaysWhatTheBuildLacks(t *testing.T) {
	open, err := profile.Sources.Get("nvml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(profile.SourceOptions{})
	var trouble *trouble
	if !errors.As(err, &trouble) || !strings.Contains(trouble.Hint(), "--source smi") || !strings.Contains(trouble.Hint(), "--source dcgm") {
		t.Errorf("error %v, want one that names the other sources", err)
	}
	r := Examine(profile.SourceOptions{})
	if r.OK || len(r.Checks) != 1 || r.Checks[0].State != Partly || !strings.HasPrefix(r.Checks[0].Text, "smi ") || r.Checks[0].Fix == "" {
		t.Errorf("report %+v", r)
	}
	name, lacks := Usual()
	if name != "smi" || strings.Contains(lacks, "\n") {
		t.Errorf("source %q, with %q", name, lacks)
	}
	for _, what := range []string{"smi", "SM, tensor and DRAM activity", "NVLink", "Linux"} {
		if !strings.Contains(lacks, what) {
			t.Errorf("%q is not in %q", what, lacks)
		}
	}
}
