package play_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate"
)

var sharedDir = filepath.Join("..", "..", "..", "shared")

// world is a small world of golden/commitments with a machine of one GPU, whose plays and bills were
// enumerated by another program.
type world struct {
	Case struct {
		ID        string
		Hours     int
		Machine   int   `json:"machine_gpus"`
		OnDemand  int64 `json:"on_demand"`
		PlaceRate int64 `json:"place_rate"`
		Offers    []struct {
			Hours int   `json:"term_hours"`
			Rate  int64 `json:"rate"`
		}
		Futures []struct{ Jobs [][4]int }
	}
	Expected struct {
		Columns [][2]int // offer, start hour
		Plays   []struct {
			Place    int `json:"place_gpus"`
			Cap      *int
			Patience int `json:"patience_s"`
			Starts   [][][3]any
			Best     struct{ Mean optimum }
		}
	}
}

type optimum struct {
	Commit []int
	Costs  []string `json:"cost_of_futures"`
}

// scenario writes a play of the world: its place, its limit, and its commitments as pools that float.
func (w *world) scenario(k int) string {
	var b strings.Builder
	p, c := &w.Expected.Plays[k], &w.Case
	fmt.Fprintf(&b, "capcli: scenario/v1\nperiod: 2027-01-01 to 2027-01-%02d\npolicy: fifo\noverflow: {patience: %ds}\ncapacity:\n", c.Hours/24, p.Patience)
	if p.Place > 0 {
		fmt.Fprintf(&b, "  - {name: place, kind: reserved, gpus: %d, price: %s}\n", p.Place, capcli.Rate(c.PlaceRate).Decimal())
	}
	most := ""
	if p.Cap != nil {
		most = fmt.Sprintf(", max_gpus: %d", *p.Cap)
	}
	fmt.Fprintf(&b, "  - {name: od, kind: on_demand, price: %s%s}\n", capcli.Rate(c.OnDemand).Decimal(), most)
	for i, x := range w.Expected.Columns {
		if n := p.Best.Mean.Commit[i]; n > 0 {
			o := &c.Offers[x[0]]
			fmt.Fprintf(&b, "  - {name: bill%d, kind: reserved, fenced: false, gpus: %d, price: %s, from: %dh, until: %dh}\n", i, n, capcli.Rate(o.Rate).Decimal(), x[1], x[1]+o.Hours)
		}
	}
	return b.String()
}

// placed notes where and when jobs start.
type placed struct{ at map[string][2]any }

func (p *placed) Observe(e simulate.Event, c *simulate.Cluster) {
	if e.Kind == simulate.Start {
		where := "od"
		if c.Pool(int(e.Job.Slices()[0].Pool)).Terms == simulate.Reserved {
			where = "place"
		}
		p.at[e.Job.ID] = [2]any{float64(e.At), where}
	}
}

// TestFloatingWorlds plays worlds whose commitments are pools that float, with and without a place and a
// limit beside them: schedules and costs equal the enumeration.
func TestFloatingWorlds(t *testing.T) {
	f, err := os.Open(filepath.Join(sharedDir, "golden", "commitments", "twolayer.jsonl.gz"))
	if err != nil {
		t.Skipf("the golden worlds are not here: %v", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<26)
	played, read := 0, 0
	for lines.Scan() {
		var w world
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		if read++; w.Case.Machine != 1 || w.Case.Hours%24 != 0 {
			continue
		}
		for k := range w.Expected.Plays {
			if w.Expected.Plays[k].Best.Mean.Commit == nil { // its jobs do not end in time
				continue
			}
			for i := range w.Case.Futures {
				playWorld(t, &w, k, i)
				played++
			}
		}
	}
	if played < 100 {
		t.Errorf("%d plays of %d worlds", played, read)
	}
}

func playWorld(t *testing.T, w *world, k, future int) {
	t.Helper()
	text := w.scenario(k)
	s, err := scenarios.Parse("world.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v\n%s", w.Case.ID, err, text)
	}
	var jobs []capcli.Job
	for _, j := range w.Case.Futures[future].Jobs {
		jobs = append(jobs, capcli.Job{ID: fmt.Sprint(j[0]), Submit: s.Period.Start + capcli.Time(j[1]), GPUs: j[2], Run: capcli.Seconds(j[3]), Deadline: capcli.NoTime})
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
	cfg, err := s.Config(func(yield func(capcli.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	where := &placed{map[string][2]any{}}
	cfg.Observers = append(cfg.Observers, where)
	res, err := simulate.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &w.Expected.Plays[k]
	for _, x := range p.Starts[future] {
		if got := where.at[fmt.Sprint(x[0])]; x[1] != nil && got != [2]any{x[1], x[2]} {
			t.Errorf("%s play %d future %d: job %v starts %v, want %v %v", w.Case.ID, k, future, x[0], got, x[1], x[2])
		}
	}
	inv, err := s.Invoice(res.Record, res.Ended, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%.6f", inv.Total.Cost.Float()); got != p.Best.Mean.Costs[future] {
		t.Errorf("%s play %d future %d costs %s, want %s", w.Case.ID, k, future, got, p.Best.Mean.Costs[future])
	}
}

// openFile opens a file.
func openFile(name string) (trace.Input, io.Closer, error) {
	f, err := os.Open(name)
	if err != nil {
		return trace.Input{}, nil, err
	}
	info, err := f.Stat()
	return trace.Input{Name: name, R: f, At: f, Size: info.Size()}, f, err
}

// TestHeliosAsABill: on the log of Helios, a base of 168 A100 at the price of an AWS reserved instance is
// billed as the same commitment beside the pools, to the millionth, and the tables name it.
func TestHeliosAsABill(t *testing.T) {
	log := filepath.Join(sharedDir, "data", "helios", "helios_venus_2vc_sept.csv")
	if _, err := os.Stat(log); err != nil {
		t.Skipf("the log is not here: %v", err)
	}
	run := func(text string) *play.Run {
		s, err := scenarios.Parse("s.yaml", []byte("capcli: scenario/v1\njobs: {any_model: true}\ncapacity:\n  - {name: od, kind: on_demand, gpu_model: A100, price: aws/us-east-1/p4d.24xlarge/on_demand}\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		c, err := play.NewCase(s, play.Options{Trace: log, Logs: &play.Logs{Open: openFile}})
		if err != nil {
			t.Fatal(err)
		}
		runs, err := c.Play(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return runs[0]
	}
	const price = "price: aws/us-east-1/p4d.24xlarge/1y-none}\n"
	pool := run("  - {name: base, kind: reserved, gpu_model: A100, gpus: 168, " + price)
	bill := run("commitments:\n  - {id: base, product: reserved_instance, from: 1970-01-01, term: 1y, gpu_model: A100, gpus: 168, " + price)
	if a, b := *pool.Cost.Total, *bill.Cost.Total; a != b || a < 219_000*capcli.Dollar || a > 219_100*capcli.Dollar || pool.WaitMax == nil || *pool.WaitMax != 0 {
		t.Errorf("as a pool it costs %s, as a commitment %s; the longest wait is %v", a.Decimal(), b.Decimal(), pool.WaitMax)
	}
	if a, b := pool.Capacity.Stranded, bill.Capacity.Stranded; a != b || a == 0 || *pool.Cost.CommittedUsed != *bill.Cost.CommittedUsed || *pool.Cost.Stranded != *bill.Cost.Stranded {
		t.Errorf("stranded: %v and %v", a, b)
	}
	if p := pool.Pools[0]; p.Name != "base" || *p.Cost+*pool.Pools[1].Cost != *pool.Cost.Total || p.Idle != pool.Capacity.Stranded || pool.CommittedGPUs() != 168 {
		t.Errorf("got %+v", pool.Pools)
	}
}
