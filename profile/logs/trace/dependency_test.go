package trace

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"capcli"
)

func TestParseDependencies(t *testing.T) {
	for text, want := range map[string]string{
		"afterok:1:2,afterany:3+10":     "[{1 0 0} {2 0 0} {3 1 600}] false false",
		"afterok:7?afternotok:8":        "[{7 0 0} {8 2 0}] true false",
		"singleton":                     "[] false true",
		"after:9+90s,singleton":         "[{9 3 90}] false true",
		"afterok:12_*(unfulfilled)":     "[{12 0 0}] false false",
		"aftercorr:5(unfulfilled)":      "[{5 0 0}] false false",
		"aftersome:llm-1%2Fa:b":         "[{llm-1/a 4 0} {b 4 0}] false false",
		"(null)":                        "[] false false",
		"":                              "[] false false",
		"afterok:1,afterok:2?afterok:3": "error",
		"afterok":                       "error",
		"before:3":                      "error",
		"afterok:":                      "error",
		"afterok:1+x":                   "error",
		"afterok:1+99999999999999":      "error",
		"afterok:%zz":                   "error",
	} {
		d, err := parseDependencies(text)
		list := []string{}
		for _, a := range d.After {
			list = append(list, fmt.Sprintf("{%s %d %d}", a.ID, a.When, int64(a.Delay)))
		}
		got := fmt.Sprint(list, d.One, d.Singleton)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", text, got, err, want)
		}
	}
}

func TestSubmittedWith(t *testing.T) {
	for line, want := range map[string]string{
		"sbatch --dependency=afterok:12 train.sh": "afterok:12",
		"sbatch -d afterok:12:13 -G 8 train.sh":   "afterok:12:13",
		"sbatch -dsingleton train.sh":             "singleton",
		"sbatch --dependency singleton a.sh":      "singleton",
		"sbatch --gres=gpu:2 train.sh":            "",
	} {
		if got := submittedWith(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func FuzzDependencies(f *testing.F) {
	for _, s := range []string{"afterok:1:2,afterany:3+10", "afterok:7?afternotok:8+3s", "singleton", "aftersome:a%2Fb", "after:1+0", "after:0%0B", "after:\x96", "after:a%C2%85"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDependencies(text)
		if err != nil {
			return
		}
		out := FormatDependencies(&capcli.Stage{After: d.After, One: d.One})
		again, err := parseDependencies(out)
		if err != nil || !reflect.DeepEqual(again.After, d.After) || len(d.After) > 1 && again.One != d.One {
			t.Errorf("%q is written as %q, which reads as %+v, %v", text, out, again, err)
		}
		_ = submittedWith(strings.ToValidUTF8(text, ""))
	})
}

// stageLine tells a job and what it waits for.
func stageLine(j *capcli.Job) string {
	out := fmt.Sprintf("%s %d %d", j.ID, j.GPUs, int64(j.Run))
	if j.Stage == nil {
		return out
	}
	out += fmt.Sprintf(" tries %d", j.Stage.FailTries)
	if j.Stage.Fails {
		out += " fails"
	}
	return strings.TrimSpace(out + ": " + FormatDependencies(j.Stage))
}
