package allocate

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"testing"

	"capcli"
)

const golden = "../../../shared/golden/elastic/gavel/"

type lpCase struct {
	ID, Policy string
	Workers    []int
	Throughput [][]float64
	GPUs       []int
	Weights    []float64
	Steps      []float64
	Elapsed    []float64 `json:"elapsed_s"`
	Isolated   []float64 `json:"isolated_s"`
	Expect     struct{ Objective float64 }
}

// problem returns the case as a problem.
func (c *lpCase) problem() *Problem {
	p := &Problem{Workers: c.Workers}
	pick := func(a []float64, m int) float64 {
		if a == nil {
			return 0
		}
		return a[m]
	}
	for m, row := range c.Throughput {
		p.Jobs = append(p.Jobs, Job{
			Throughput: row, GPUs: c.GPUs[m], Weight: pick(c.Weights, m), Steps: pick(c.Steps, m),
			Elapsed: pick(c.Elapsed, m), Isolated: pick(c.Isolated, m),
		})
	}
	return p
}

// readGolden reads a file of reference cases, or skips the test where it is not there.
func readGolden(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(golden + name)
	if err != nil {
		t.Skip("reference cases are not here: " + err.Error())
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func isNear(got, want, share float64) bool {
	return math.Abs(got-want) <= share*max(1e-9, math.Abs(want))
}

func TestGoldenPrograms(t *testing.T) {
	var cases []lpCase
	readGolden(t, "lp.json", &cases)
	worst, broken, n := 0.0, 0.0, 0
	for _, c := range cases {
		if !slices.Contains(Objectives.Names(), c.Policy) {
			continue
		}
		n++
		p := c.problem()
		r, err := Solve(p, c.Policy, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		worst, broken = max(worst, math.Abs(r.Objective/c.Expect.Objective-1)), max(broken, p.Excess(r.X))
		if !isNear(r.Objective, c.Expect.Objective, 1e-6) {
			t.Errorf("%s %s: objective %v, want %v", c.ID, c.Policy, r.Objective, c.Expect.Objective)
		}
		if e := p.Excess(r.X); e > 1e-9 {
			t.Errorf("%s %s: X breaks a constraint by %v", c.ID, c.Policy, e)
		}
	}
	if t.Logf("%d cases: objectives within %.1e, constraints within %.1e", n, worst, broken); n == 0 {
		t.Error("no cases")
	}
}

// newEntrants returns the jobs of an allocation before its first round.
func newEntrants(t *testing.T, gpus []int, shares [][]string) []Entrant {
	out := make([]Entrant, len(gpus))
	for m := range out {
		out[m] = Entrant{GPUs: gpus[m], Received: make([]int64, len(shares[m])), Type: -1}
		for _, text := range shares[m] {
			r, ok := new(big.Rat).SetString(text)
			if !ok {
				t.Fatalf("%q is no share", text)
			}
			out[m].Shares = append(out[m].Shares, Share{r.Num().Int64(), r.Denom().Int64()})
		}
	}
	return out
}

func TestGoldenRounds(t *testing.T) {
	var cases []struct {
		ID      string
		Workers []int
		GPUs    []int
		X       [][]string
		Rounds  int
		Expect  struct {
			First    []map[string]int
			Received [][]int64
		}
	}
	readGolden(t, "rounds.json", &cases)
	for _, c := range cases {
		jobs := newEntrants(t, c.GPUs, c.X)
		var r Round
		for n := range c.Rounds {
			r.Play(c.Workers, jobs)
			if n >= len(c.Expect.First) {
				continue
			}
			got := map[string]int{}
			for m := range jobs {
				if jobs[m].Type >= 0 {
					got[strconv.Itoa(m)] = jobs[m].Type
				}
			}
			if !maps.Equal(got, c.Expect.First[n]) {
				t.Fatalf("%s: round %d: %v, want %v", c.ID, n, got, c.Expect.First[n])
			}
		}
		for m := range jobs {
			if !slices.Equal(jobs[m].Received, c.Expect.Received[m]) {
				t.Errorf("%s: job %d received %v, want %v", c.ID, m, jobs[m].Received, c.Expect.Received[m])
			}
		}
	}
}

func TestGoldenMarginal(t *testing.T) {
	var cases []struct {
		Kind, ID string
		Input    struct {
			GPUs int
			Jobs []struct {
				ID    int
				Times map[string]capcli.Seconds
			}
		}
		Expect struct{ GPUs map[string]int }
	}
	readGolden(t, "../width/cases.json", &cases)
	n := 0
	for _, c := range cases {
		if c.Kind != "marginal" {
			continue
		}
		n++
		slices.SortFunc(c.Input.Jobs, func(a, b struct {
			ID    int
			Times map[string]capcli.Seconds
		},
		) int {
			return a.ID - b.ID
		})
		jobs := make([][]Step, len(c.Input.Jobs))
		for m, j := range c.Input.Jobs {
			for k := 1; j.Times[strconv.Itoa(k)] > 0; k++ {
				jobs[m] = append(jobs[m], Step{k, j.Times[strconv.Itoa(k)]})
			}
		}
		for m, k := range Marginal(c.Input.GPUs, jobs) {
			if want := c.Expect.GPUs[strconv.Itoa(c.Input.Jobs[m].ID)]; k+1 != want {
				t.Errorf("%s: job %d has %d GPUs, want %d", c.ID, c.Input.Jobs[m].ID, k+1, want)
			}
		}
	}
	if n == 0 {
		t.Error("no cases")
	}
}
