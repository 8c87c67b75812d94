package billing_test

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
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// goldenLines yields the lines of a file of golden/commitments. It skips where the file is not here.
func goldenLines(t *testing.T, name string) func(func([]byte) bool) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "golden", "commitments", name))
	if err != nil {
		t.Skipf("the shared data are not here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func([]byte) bool) {
		s := bufio.NewScanner(z)
		s.Buffer(nil, 1<<26)
		for s.Scan() {
			if !yield(s.Bytes()) {
				return
			}
		}
		if s.Err() != nil {
			t.Error(s.Err())
		}
	}
}

// world is a case of twolayer.jsonl.gz.
type world struct {
	Case struct {
		ID          string
		Hours       int64
		MachineGPUs int   `json:"machine_gpus"`
		OnDemand    int64 `json:"on_demand"`
		PlaceRate   int64 `json:"place_rate"`
		Offers      []struct {
			TermHours int64 `json:"term_hours"`
			Rate      int64
		}
		Futures []struct{ Jobs [][4]int64 }
	}
	Expected struct {
		Columns [][2]int64
		Plays   []worldPlay
	}
}

type worldPlay struct {
	PlaceGPUs int            `json:"place_gpus"`
	Cap       int            // null is 0: none
	Patience  capcli.Seconds `json:"patience_s"`
	Use       []int64        `json:"use_unit_seconds"`
	Best      map[string]struct {
		Commit        []int64
		CostOfFutures []string `json:"cost_of_futures"`
	}
}

// TestWholeMachines plays the two-layer worlds that are billed by the machine: what is billed by
// hour, what the commitments of the best plan cost over it, and what rounding up to machines costs
// are those of the golden worlds.
func TestWholeMachines(t *testing.T) {
	worlds, plays := 0, 0
	for line := range goldenLines(t, "twolayer.jsonl.gz") {
		var w world
		if err := json.Unmarshal(line, &w); err != nil {
			t.Fatal(err)
		}
		if w.Case.MachineGPUs == 1 && worlds > 30 {
			continue // the others are billed by the GPU as these are
		}
		worlds++
		for i := range w.Expected.Plays {
			for f := range w.Expected.Plays[i].Use { // none where jobs do not end in time
				plays++
				w.play(t, &w.Expected.Plays[i], f)
			}
		}
	}
	t.Logf("%d plays of %d worlds", plays, worlds)
}

func (w *world) play(t *testing.T, play *worldPlay, future int) {
	t.Helper()
	rec := w.run(t, play, future)
	od := len(rec.Pools) - 1
	billed, err := billing.HoursOfPool(rec, od)
	if err != nil {
		t.Fatal(err)
	}
	var units, spare capcli.GPUTime
	for i := range billed.Billed {
		units += billed.Billed[i] / capcli.GPUTime(billed.GPUs)
		spare += billed.Spare[i]
	}
	if int64(units) != 1000*play.Use[future] || billed.GPUs != int64(w.Case.MachineGPUs) {
		t.Errorf("%s, place %d, future %d: %d unit-seconds on demand in units of %d, want %d", w.Case.ID, play.PlaceGPUs, future, units/1000, billed.GPUs, play.Use[future])
	}
	per := capcli.Rate(w.Case.OnDemand / int64(w.Case.MachineGPUs))
	rates := []billing.Rate{{Price: capcli.Rate(w.Case.PlaceRate)}, {Price: per}}[1-od:]
	deal := &billing.Deal{To: day0 + capcli.Time(w.Case.Hours)*hours, Pools: []billing.RunPool{{Skip: true}, {Price: per, Capacity: "od"}}[1-od:]}
	best := play.Best["mean"]
	for i, n := range best.Commit {
		if n == 0 {
			continue
		}
		offer, start := w.Case.Offers[w.Expected.Columns[i][0]], day0+capcli.Time(w.Expected.Columns[i][1])*hours
		deal.Portfolio.Commitments = append(deal.Portfolio.Commitments, billing.Commitment{
			ID: fmt.Sprint("c", i), Start: start, End: start + capcli.Time(offer.TermHours)*hours, Fees: billing.Fees{Hourly: capcli.Rate(offer.Rate * n)},
			Product: billing.ReservedInstance{Units: billing.Units(1000 * n * int64(w.Case.MachineGPUs))},
		})
	}
	inv, err := billing.PriceUnder(rec, rates, deal)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := new(big.Rat).SetString(best.CostOfFutures[future])
	if diff := new(big.Rat).Sub(want, big.NewRat(int64(inv.Total.Cost), 1_000_000)); diff.Abs(diff).Cmp(big.NewRat(1, 100_000)) > 0 {
		t.Errorf("%s, place %d, future %d: it costs %s, want %s", w.Case.ID, play.PlaceGPUs, future, inv.Total.Cost.Decimal(), best.CostOfFutures[future])
	}
	// A difference of two rounded costs may be a millionth off.
	off := new(big.Int).Sub(exact(per, spare), big.NewInt(int64(inv.Rounding)))
	if len(deal.Portfolio.Commitments) == 0 && off.Abs(off).Cmp(big.NewInt(1)) > 0 || inv.Rounding < 0 {
		t.Errorf("%s, place %d, future %d: rounding costs %s for %d thousandths of GPU-seconds", w.Case.ID, play.PlaceGPUs, future, inv.Rounding.Decimal(), spare)
	}
}

// run plays the jobs of a future.
func (w *world) run(t *testing.T, play *worldPlay, future int) *simulate.Record {
	t.Helper()
	list := slices.Clone(w.Case.Futures[future].Jobs)
	slices.SortFunc(list, func(a, b [4]int64) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	jobs := func(yield func(capcli.Job, error) bool) {
		for _, j := range list {
			if !yield(capcli.Job{ID: fmt.Sprint(j[0]), Submit: day0 + capcli.Time(j[1]), GPUs: int(j[2]), Run: capcli.Seconds(j[3]), Deadline: capcli.NoTime}, nil) {
				return
			}
		}
	}
	fifo, err := policy.Catalog.Get("fifo")
	if err != nil {
		t.Fatal(err)
	}
	count, err := placement.Catalog.Get("count")
	if err != nil {
		t.Fatal(err)
	}
	cfg := simulate.Config{Start: day0, Jobs: jobs, Policy: fifo, Placement: count(), Hourly: true}
	patience := play.Patience
	if play.PlaceGPUs > 0 {
		cfg.Pools = append(cfg.Pools, simulate.Pool{Name: "place", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: play.PlaceGPUs, Until: capcli.Seconds(w.Case.Hours * 3600)})
	} else {
		patience = 0
	}
	cfg.Overflow.Patience = []simulate.Patience{{Wait: patience}}
	cfg.Pools = append(cfg.Pools, simulate.Pool{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: cmp.Or(play.Cap, 1_000_000), MachineGPUs: w.Case.MachineGPUs, Rank: 1})
	// The place is paid for to the end of the world, also where its jobs end before.
	cfg.Until = capcli.Seconds(w.Case.Hours * 3600)
	res, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res.Record
}
