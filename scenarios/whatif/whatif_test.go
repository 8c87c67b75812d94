package whatif_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
)

func parse(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	text, _ := scenarios.Library(name)
	s, err := scenarios.Parse(name+".yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// outcome returns the JSON of the outcome of a question, with the changes of r.
func outcome(t *testing.T, q play.Question, r whatif.Request) string {
	t.Helper()
	a, err := whatif.Ask(t.Context(), &play.Maker{}, q, r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	text, err := json.Marshal(a.Document.Runs)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every knob of every scenario of the library takes the value that it has, and values beside it. With
// its own value nothing changes.
func TestKnobsTakeTheirValues(t *testing.T) {
	for _, name := range scenarios.Names() {
		s := parse(t, name)
		knobs := whatif.Knobs(s)
		for _, want := range []string{"policy", "placement"} {
			if !slices.ContainsFunc(knobs, func(k whatif.Knob) bool { return k.Path == want && slices.Contains(k.Choices, k.Value) }) {
				t.Errorf("%s has no knob for the %s", name, want)
			}
		}
		for i := range s.Capacity {
			if p := s.Capacity[i].Name; !slices.ContainsFunc(knobs, func(k whatif.Knob) bool {
				return strings.HasPrefix(k.Label, p+": ") && (k.Unit == "gpus" || k.Unit == "nodes")
			}) {
				t.Errorf("%s has no knob for the size of the pool %s", name, p)
			}
		}
		for _, k := range knobs {
			for _, v := range valuesOf(k) {
				if _, err := s.With(k.Path + "=" + v); err != nil {
					t.Errorf("%s: %s=%s: %v", name, k.Path, v, err)
				}
			}
		}
	}
	q := play.Question{Scenario: "default"}
	before := outcome(t, q, whatif.Request{})
	for _, k := range whatif.Knobs(parse(t, "default")) {
		if k.Value == "" {
			continue
		}
		if got := outcome(t, q, whatif.Request{Changes: []whatif.Change{{Path: k.Path, Value: k.Value}}}); k.Unit != "usd_per_gpu_hour" && got != before {
			t.Errorf("%s=%s, the value that it has, changes the outcome", k.Path, k.Value)
		}
	}
}

// valuesOf returns values of a knob.
func valuesOf(k whatif.Knob) []string {
	if k.Kind == whatif.Choice {
		return slices.DeleteFunc(slices.Clone(k.Choices), func(v string) bool { return v == "by job" })
	}
	out := []string{strconv.FormatFloat(k.Max, 'f', -1, 64), strconv.FormatFloat(k.Min+k.Step, 'f', -1, 64)}
	if k.Value != "" {
		out = append(out, k.Value)
	}
	return out
}

func TestKnobsOfDefault(t *testing.T) {
	var got []string
	for _, k := range whatif.Knobs(parse(t, "default")) {
		got = append(got, fmt.Sprintf("%s %s %q %g-%g/%g", k.Path, k.Kind, k.Value, k.Min, k.Max, k.Step))
	}
	want := []string{
		`capacity.base.gpus number "40" 0-100/1`, `capacity.on-demand.max_gpus number "64" 0-200/1`, `overflow.patience choice "30m" 0-0/0`,
		`policy choice "easy" 0-0/0`, `placement choice "count" 0-0/0`, `capacity.base.price number "2.314207" 0.01-5/0.01`, `capacity.on-demand.price number "3.673385" 0.01-10/0.01`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("knobs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestArgs(t *testing.T) {
	r := whatif.Request{Changes: []whatif.Change{{Path: "policy", Value: "sjf"}, {Path: "capacity.base.gpus", Value: "64"}}}
	if got := strings.Join(r.Args(), " "); got != "--set capacity.base.gpus=64 --policy sjf" {
		t.Error(got)
	}
	for _, bad := range []string{"", "a=b"} {
		if _, err := whatif.Ask(t.Context(), &play.Maker{}, play.Question{}, whatif.Request{Changes: []whatif.Change{{Path: bad}}}); err == nil {
			t.Errorf("the path %q is taken", bad)
		}
	}
	if _, err := whatif.Ask(t.Context(), &play.Maker{}, play.Question{}, whatif.Request{Changes: make([]whatif.Change, 300)}); err == nil {
		t.Error("300 changes are taken")
	}
}

func Example() {
	maker, ask := &play.Maker{}, play.Question{Scenario: "default"}
	for _, gpus := range []string{"32", "64"} {
		a, err := whatif.Ask(context.Background(), maker, ask, whatif.Request{Changes: []whatif.Change{{Path: "capacity.base.gpus", Value: gpus}}})
		if err != nil {
			panic(err)
		}
		fmt.Println(strings.Join(a.Args, " "), a.Heads[1].Text, a.Heads[4].Text)
	}
	// Output:
	// --set capacity.base.gpus=32 $85,400.01 33 min
	// --set capacity.base.gpus=64 $108,703.12 14 min
}

// TestKnobsAfterAnEmptyPool: where an override took a pool away, the knobs of those after it turn them.
func TestKnobsAfterAnEmptyPool(t *testing.T) {
	s, err := scenarios.Parse("w.yaml", []byte(`capcli: scenario/v1
capacity:
  - {name: "first pool", kind: owned, gpus: 4, price: 9}
  - {name: "second pool", kind: reserved, gpus: 8, price: 2}
  - {name: "third pool", kind: on_demand, price: 4}
`), "capacity[0].gpus=0")
	if err != nil {
		t.Fatal(err)
	}
	turned := 0 // prices, of two
	for _, k := range whatif.Knobs(s) {
		if !strings.HasSuffix(k.Path, ".price") {
			continue
		}
		x, err := s.With(k.Path + "=7")
		if err != nil {
			t.Errorf("%s: %v", k.Path, err)
			continue
		}
		for i := range x.Capacity {
			if strings.HasPrefix(k.Label, x.Capacity[i].Name) && x.Capacity[i].Price.Rate.Float() == 7 {
				turned++
			}
		}
	}
	if turned != 2 {
		t.Errorf("%d prices were turned, want 2", turned)
	}
}
