package scale_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate/serving/scale"
)

func TestReadLoad(t *testing.T) {
	got, err := scale.ReadLoad(strings.NewReader("step;Load\n0;12\n1;3.0\n\n2;1e2\n"))
	if want := []int64{12, 3, 100}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	tests := []struct {
		text, field string
		line        int
	}{
		{"", "", 0},
		{"step,requests\n0,1\n", "load", 1},
		{"load\n", "load", 1},
		{"step,load\n0,1\n1\n", "load", 3},
		{"load\n5\n-1\n", "load", 3},
		{"load\n1.5\n", "load", 2},
		{"load\nNaN\n", "load", 2},
		{"load\n9e30\n", "load", 2},
		{"load\n\"5\n", "", 2},
	}
	for _, tt := range tests {
		_, err := scale.ReadLoad(strings.NewReader(tt.text))
		in, ok := errors.AsType[*capcli.InputError](err)
		if !ok || in.Line != tt.line || in.Field != tt.field {
			t.Errorf("%q: error %v, want one in line %d of %q", tt.text, err, tt.line, tt.field)
		}
	}
}

// A load that is read can be written and read again.
func FuzzReadLoad(f *testing.F) {
	f.Add("step,load\n0,12\n1,3\n")
	f.Add("load\n\"1\"\n2e3\n")
	f.Fuzz(func(t *testing.T, text string) {
		load, err := scale.ReadLoad(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		b.WriteString("load\n")
		for _, n := range load {
			b.WriteString(strconv.FormatInt(n, 10) + "\n")
		}
		if again, err := scale.ReadLoad(&b); err != nil || !slices.Equal(again, load) {
			t.Fatalf("%v, %v; want %v", again, err, load)
		}
	})
}
