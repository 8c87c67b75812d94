package width_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/simulate/width"
)

const goldenFile = "../../../shared/golden/elastic/width/cases.json"

// ordered is a JSON object of numbers by GPU count, in the order of the file.
type ordered []struct {
	gpus  int
	value string
}

func (o *ordered) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		value, err := dec.Token()
		if err != nil {
			return err
		}
		gpus, err := strconv.Atoi(key.(string))
		if err != nil {
			return err
		}
		*o = append(*o, struct {
			gpus  int
			value string
		}{gpus, fmt.Sprint(value)})
	}
	return nil
}

func (o ordered) points(t *testing.T) []width.Point {
	var out []width.Point
	for _, x := range o {
		run, err := strconv.ParseInt(x.value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, width.Point{GPUs: x.gpus, Run: capcli.Seconds(run)})
	}
	return out
}

// goldenCase is a case of the reference.
type goldenCase struct {
	Kind, ID string
	Input    struct {
		Speedup  string
		Models   []goldenModel
		Deadline capcli.Seconds `json:"deadline_s"`
		Budget   string         `json:"budget_usd"`
		OneGPU   capcli.Seconds `json:"one_gpu_s"`
		Serial   string
		Widths   []int
		Steps    int64
	}
	Expect struct {
		Options  []goldenOption
		Cheapest *goldenOption `json:"cheapest_in_time"`
		Fastest  *goldenOption `json:"fastest_in_budget"`
	}
}

type goldenModel struct {
	Name, Price, Speed string
	GPUs               int
	Times, Rates       ordered
}

type goldenOption struct {
	Model  string
	GPUs   int
	RunS   capcli.Seconds `json:"run_s"`
	Cost   string         `json:"cost_usd"`
	InTime bool           `json:"in_time"`
}

func goldenCases(t *testing.T, kind string) []goldenCase {
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Skip("the reference answers are not here: ", err)
	}
	var all []goldenCase
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(c goldenCase) bool { return c.Kind != kind })
	if len(all) == 0 {
		t.Fatalf("no cases of kind %s", kind)
	}
	return all
}

func decimal(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, err := width.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// points returns the run times of a model in a case.
func (c *goldenCase) points(t *testing.T, m *goldenModel) []width.Point {
	switch c.Input.Speedup {
	case "times":
		return m.Times.points(t)
	case "amdahl":
		a := width.Amdahl{OneGPU: c.Input.OneGPU, Serial: decimal(t, c.Input.Serial)}
		var out []width.Point
		for _, n := range c.Input.Widths {
			run, err := a.Run(n, decimal(t, m.Speed))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, width.Point{GPUs: n, Run: run})
		}
		return out
	case "rates":
		var out []width.Point
		for _, x := range m.Rates {
			run, ok, err := width.RunOfSteps(c.Input.Steps, decimal(t, x.value))
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				out = append(out, width.Point{GPUs: x.gpus, Run: run})
			}
		}
		return out
	}
	t.Fatalf("unknown speedup %q", c.Input.Speedup)
	return nil
}

// TestGoldenWidth compares every option, the cheapest in time and the fastest in the budget with the reference,
// money to six decimals.
func TestGoldenWidth(t *testing.T) {
	for _, c := range goldenCases(t, "width") {
		t.Run(c.ID, func(t *testing.T) {
			var models []width.Model
			for i := range c.Input.Models {
				m := &c.Input.Models[i]
				models = append(models, width.Model{Name: m.Name, Price: decimal(t, m.Price), GPUs: m.GPUs, Points: c.points(t, m)})
			}
			got, err := width.Options(models, c.Input.Deadline)
			if err != nil {
				t.Fatal(err)
			}
			show := func(o *width.Option) goldenOption {
				return goldenOption{o.Model, o.GPUs, o.Run, o.ExactCost().FloatString(6), o.InTime}
			}
			var all []goldenOption
			for i := range got {
				all = append(all, show(&got[i]))
				if text := fmt.Sprintf("%d.%06d", got[i].Cost/capcli.Dollar, got[i].Cost%capcli.Dollar); text != all[i].Cost {
					t.Errorf("option %d: cost %s in millionths, %s exactly", i, text, all[i].Cost)
				}
			}
			if !slices.Equal(all, c.Expect.Options) {
				t.Errorf("options\n got %v\nwant %v", all, c.Expect.Options)
			}
			check := func(what string, at int, want *goldenOption) {
				switch {
				case at < 0 && want == nil:
				case at < 0 || want == nil:
					t.Errorf("%s: got %d, want %v", what, at, want)
				default:
					g := show(&got[at])
					if g.InTime = want.InTime; g != *want {
						t.Errorf("%s: got %v, want %v", what, g, *want)
					}
				}
			}
			check("cheapest in time", width.CheapestInTime(got), c.Expect.Cheapest)
			check("fastest in budget", width.FastestInBudget(got, decimal(t, c.Input.Budget)), c.Expect.Fastest)
		})
	}
}
