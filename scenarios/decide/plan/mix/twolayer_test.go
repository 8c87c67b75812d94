package mix_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
	"capcli/testdata/golden"
)

// goldenWorld is a case of golden/commitments/twolayer.jsonl.gz: places, caps, patience and commitments, all
// enumerated by an outside program.
type goldenWorld struct {
	Case struct {
		ID          string
		Hours       int64
		MachineGPUs int   `json:"machine_gpus"`
		OnDemand    int64 `json:"on_demand"`
		PlaceRate   int64 `json:"place_rate"`
		Offers      []struct {
			TermHours int64 `json:"term_hours"`
			Rate      int64
			Starts    []int64
		}
		Caps     []*int
		Places   []int            `json:"place_gpus"`
		Patience []capcli.Seconds `json:"patience_s"`
		Futures  []struct {
			Weight string
			Jobs   [][4]int64
		}
		Limit map[string]float64
	}
	Expected struct {
		Columns [][2]int64
		Plays   []goldenPlay
		Optimum map[string]struct{ Cost string }
	}
}

type goldenPlay struct {
	PlaceGPUs int `json:"place_gpus"`
	Cap       *int
	Patience  capcli.Seconds `json:"patience_s"`
	Holds     bool
	Fails     any
	MeanWait  []float64 `json:"mean_wait_s"`
	Longest   []int64   `json:"longest_wait_s"`
	Use       []int64   `json:"use_unit_seconds"`
	Best      map[string]struct {
		Cost   string
		Commit []int64
	}
	Others  []map[string]any
	Nothing map[string]string `json:"nothing_committed"`
}

// worldStart is the first hour of a world: a Thursday.
const worldStart capcli.Time = 1_767_225_600 // 2026-01-01

// request is the question of a world, as a scenario with its futures. Its offers are pools of the scenario, or beside it.
func (w *goldenWorld) request(t testing.TB, pools bool) *mix.Request {
	t.Helper()
	end := worldStart + capcli.Time(w.Case.Hours*3600)
	text := fmt.Sprintf(`capcli: scenario/v1
name: %s
period: %s to %s
jobs: {generate: {classes: [{name: none, kind: batch, share: 1, per_day: 1, gpus: 1, run: 1h}]}}
capacity:
  - {name: place, kind: owned, gpus: 1, price: %s}
  - {name: od, kind: on_demand, price: %s, max_gpus: 1%s}
%spolicy: fifo
`, w.Case.ID, worldStart, end, capcli.Rate(w.Case.PlaceRate).Decimal(), capcli.Rate(w.Case.OnDemand/int64(w.Case.MachineGPUs)).Decimal(), w.machine(), w.pools(pools))
	text = strings.ReplaceAll(text, "jobs: {generate: {classes: [{name: none, kind: batch, share: 1, per_day: 1, gpus: 1, run: 1h}]}}\n", "")
	s, err := scenarios.Parse(w.Case.ID+".yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := mix.NewRequest(c)
	q.Exhaustive, q.All, q.Hold, q.MachineGPUs = true, true, 1, w.Case.MachineGPUs
	list := func(n int, of func(i int) string) string {
		var parts []string
		for i := range n {
			parts = append(parts, of(i))
		}
		return strings.Join(parts, ",")
	}
	q.Vary = []string{
		"capacity.place.gpus=" + list(len(w.Case.Places), func(i int) string { return fmt.Sprint(w.Case.Places[i]) }),
		"capacity.od.max_gpus=" + list(len(w.Case.Caps), func(i int) string { return fmt.Sprint(capOf(w.Case.Caps[i])) }),
		"overflow.patience=" + list(len(w.Case.Patience), func(i int) string { return fmt.Sprintf("%ds", w.Case.Patience[i]) }),
	}
	for metric, most := range w.Case.Limit {
		name := map[string]string{"mean_wait_s": "wait_mean", "max_wait_s": "wait_max"}[metric]
		q.Max = append(q.Max, fmt.Sprintf("%s=%gs", name, most))
	}
	for i, o := range w.Case.Offers {
		if pools {
			break
		}
		offer := mix.Offer{Name: fmt.Sprint("offer", i), Length: capcli.Step{Seconds: capcli.Seconds(o.TermHours * 3600)}, Rate: capcli.Rate(o.Rate), ByUnit: true}
		for _, at := range o.Starts {
			offer.Starts = append(offer.Starts, worldStart+capcli.Time(at*3600))
		}
		q.Offers = append(q.Offers, offer)
	}
	whole := int64(1)
	for _, f := range w.Case.Futures {
		r, _ := new(big.Rat).SetString(f.Weight)
		whole *= r.Denom().Int64() / new(big.Int).GCD(nil, nil, big.NewInt(whole), r.Denom()).Int64()
	}
	for i, f := range w.Case.Futures {
		r, _ := new(big.Rat).SetString(f.Weight)
		jobs := worldJobs(f.Jobs)
		q.Futures = append(q.Futures, mix.Future{
			Name: fmt.Sprint("future ", i), Weight: whole / r.Denom().Int64() * r.Num().Int64(),
			Jobs: func(context.Context) ([]capcli.Job, error) { return jobs, nil },
		})
	}
	return q
}

// machine is how the on-demand pool is billed.
func (w *goldenWorld) machine() string {
	if w.Case.MachineGPUs == 1 {
		return ""
	}
	return fmt.Sprintf(", billed_by: machine, machine_gpus: %d", w.Case.MachineGPUs)
}

// pools are the purchases that the world offers as pools that float; "" where they are not wanted.
func (w *goldenWorld) pools(wanted bool) (out string) {
	if !wanted {
		return ""
	}
	m := int64(w.Case.MachineGPUs)
	for _, c := range w.Expected.Columns {
		o := &w.Case.Offers[c[0]]
		out += fmt.Sprintf("  - {name: offer%d-%d, kind: reserved, fenced: false, nodes: 1, gpus_per_node: %d, price: %s, from: %dh, until: %dh}\n", c[0], c[1], m, capcli.Rate(o.Rate/m).Decimal(), c[1], c[1]+o.TermHours)
	}
	return out
}

// uneven reports whether a price of a machine is none of a GPU.
func (w *goldenWorld) uneven() bool {
	m := int64(w.Case.MachineGPUs)
	for _, o := range w.Case.Offers {
		if o.Rate%m != 0 {
			return true
		}
	}
	return w.Case.OnDemand%m != 0
}

func capOf(limit *int) int {
	if limit == nil {
		return 1_000_000
	}
	return *limit
}

func worldJobs(list [][4]int64) []capcli.Job {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b [4]int64) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	var out []capcli.Job
	for _, j := range list {
		out = append(out, capcli.Job{ID: fmt.Sprint(j[0]), Submit: worldStart + capcli.Time(j[1]), GPUs: int(j[2]), Run: capcli.Seconds(j[3]), Deadline: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime})
	}
	return out
}

// play returns the golden play of a mix; nil where it is none.
func (w *goldenWorld) play(m *mix.Mix) *goldenPlay {
	for i := range w.Expected.Plays {
		p := &w.Expected.Plays[i]
		patience := fmt.Sprintf("%ds", p.Patience)
		if m.Choices[0].Value == fmt.Sprint(p.PlaceGPUs) && m.Choices[1].Value == fmt.Sprint(capOf(p.Cap)) && m.Choices[2].Value == patience {
			return p
		}
	}
	return nil
}

func wantCost(t testing.TB, what string, got capcli.USD, want string) {
	t.Helper()
	r, ok := new(big.Rat).SetString(want)
	if !ok {
		t.Fatalf("%s: %q is no number", what, want)
	}
	if off := r.Sub(r, big.NewRat(int64(got), 1_000_000)); off.Abs(off).Cmp(big.NewRat(1, 100_000)) > 0 {
		t.Errorf("%s: %s, want %s", what, got.Decimal(), want)
	}
}

// TestTwoLayers plans the two-layer worlds of golden/commitments: every play's waits and use are theirs, its least
// cost under commitments is theirs by each measure, and the plan costs as much as their optimum.
func TestTwoLayers(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "golden", "commitments", "twolayer.jsonl.gz"))
	if err != nil {
		t.Skipf("the shared data are not here: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<26)
	worlds, plays, pooled := 0, 0, 0
	for lines.Scan() {
		var w goldenWorld
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		if worlds++; worlds%10 != 0 && !golden.Full() {
			continue
		}
		for _, measure := range []string{"mean", "q80", "cvar95"} {
			if _, has := w.Expected.Optimum[measure]; has && (measure == "mean" || worlds%10 == 0 || os.Getenv("CAPCLI_LONG") != "") {
				plays += w.check(t, measure, false)
			}
		}
		if worlds%12 == 0 || os.Getenv("CAPCLI_LONG") != "" {
			pooled += w.check(t, "mean", true) + w.check(t, "q80", true)
		}
	}
	t.Logf("%d plays of %d worlds, %d with pools that float", plays, worlds, pooled)
	if lines.Err() != nil || worlds == 0 {
		t.Errorf("%d worlds: %v", worlds, lines.Err())
	}
}

func (w *goldenWorld) check(t *testing.T, measure string, pools bool) (plays int) {
	t.Helper()
	if _, has := w.Expected.Optimum[measure]; !has || pools && w.uneven() {
		return 0
	}
	q := w.request(t, pools)
	var err error
	if q.Risk, err = plan.ParseRisk(measure); err != nil {
		t.Fatal(err)
	}
	r, err := mix.Plan(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", w.Case.ID, err)
	}
	least := capcli.USD(-1)
	for _, m := range r.All {
		p := w.play(m)
		if p == nil || m.Fate != "full" {
			continue
		}
		plays++
		what := fmt.Sprintf("%s, %s, mix %d", w.Case.ID, measure, m.Mix)
		done := true
		for i := range m.Entry.Outcomes {
			o := &m.Entry.Outcomes[i]
			if done = done && o.Finished == o.Jobs; len(p.MeanWait) == 0 {
				continue // work is left at the horizon
			}
			if off := o.WaitMean - p.MeanWait[i]; off > 1e-3 || off < -1e-3 || int64(o.WaitMax) != p.Longest[i] {
				t.Errorf("%s: future %d waits %v on average and %d at most, want %v and %d", what, i, o.WaitMean, o.WaitMax, p.MeanWait[i], p.Longest[i])
			}
		}
		if !done {
			if p.Holds {
				t.Errorf("%s: jobs are left, and it holds", what)
			}
			continue
		}
		wantCost(t, what, m.Entry.Cost(), p.Best[measure].Cost)
		if m.Commitments.Gap > 0 {
			t.Errorf("%s: its commitments are not proven best: %+v", what, m.Commitments)
		}
		if holds := m.Entry.HeldShare() == 1; holds != p.Holds {
			t.Errorf("%s: holds %t, want %t (%v)", what, holds, p.Holds, p.Fails)
		}
		if p.Holds && (least < 0 || m.Entry.Cost() < least) {
			least = m.Entry.Cost()
		}
	}
	wantCost(t, w.Case.ID+" "+measure+": the best", least, w.Expected.Optimum[measure].Cost)
	return plays
}
