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
	if r := Examine(profile.SourceOptions{}); r.OK || len(r.Checks) != 1 || r.Checks[0].State != Bad {
		t.Errorf("report %+v", r)
	}
}
