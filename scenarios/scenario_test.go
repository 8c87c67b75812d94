package scenarios

import (
	"context"
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// The example of the design: four mistakes, each with its place and its cure.
const reserve64 = `capcli: scenario/v1
name: reserve64
period: 2027-01-01 to 2026-12-31
jobs: {from: jobs.parquet}
capacity:
  - {kind: reserved, gpu: 64, term: 1y, price: 2.20 USD/gpu-h}
  - {kind: on_demand, max_gpus: 64, price: 3,90 USD/gpu-h}
  - {kind: spot, max_gpus: 24, price: 0}
limits: {wait_p95: 30m}
`

const reserve64Faults = `reserve64.yml has 4 problems; nothing was run

reserve64.yml:3:23  period ends 2026-12-31, before it starts 2027-01-01
  3 | period: 2027-01-01 to 2026-12-31
    |                       ^^^^^^^^^^
reserve64.yml:6:22  unknown field "gpu"; did you mean "gpus"?
  6 |   - {kind: reserved, gpu: 64, term: 1y, price: 2.20 USD/gpu-h}
    |                      ^^^
reserve64.yml:7:44  price "3,90 USD/gpu-h": YAML ends the value at the comma; write 3.90 USD/gpu-h
  7 |   - {kind: on_demand, max_gpus: 64, price: 3,90 USD/gpu-h}
    |                                            ^^^^
reserve64.yml:8:39  price is 0; if this capacity is free to you, write free: true
  8 |   - {kind: spot, max_gpus: 24, price: 0}
    |                                       ^

fields allowed under capacity: FIELDS (capcli scenarios init)`

func TestFaultsReadAsDesigned(t *testing.T) {
	_, err := Parse("reserve64.yml", []byte(reserve64))
	var names []string
	for _, f := range capacityFields(&Capacity{}) {
		names = append(names, f.Name)
	}
	if want := strings.Replace(reserve64Faults, "FIELDS", strings.Join(names, ", "), 1); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var in *capcli.InputError
	if !errors.As(err, &in) || in.Line != 3 || in.Field != "period" || in.File != "reserve64.yml" {
		t.Errorf("got %+v as input error, want the fault of line 3, period", in)
	}
}

func TestTenFaultsAreTenFaults(t *testing.T) {
	const src = `capcli: scenario/v2
nam: ten
seed: -4
capacity:
  - {name: base, kind: reserve, gpus: 64, price: 2.20}
  - {name: base, kind: reserved, gpus: 0, price: .nan}
  - name: od
    kind: on_demand
    price: 2,20
    lead_time: half an hour
    kind: spot
policy: eazy
overflow: {patience: -5m}
limits: {wait_p59: 30m}
`
	want := []struct {
		line, col int
		text      string
	}{
		{1, 9, "reads scenario/v1"},
		{2, 1, `did you mean "name"?`},
		{3, 7, "whole number"},
		{5, 24, `did you mean "reserved"?`},
		{6, 12, `pool "base" is there twice, first in line 5`},
		{6, 40, "gpus is 0; want 1 to"},
		{6, 50, `price: want a price such as 2.20 USD/gpu-h`},
		{9, 12, "write 2.20"},
		{10, 16, "want a length of time"},
		{11, 5, `"kind" is given twice, first in line 8`},
		{12, 9, `did you mean "easy"?`},
		{13, 22, "not negative"},
		{14, 10, `did you mean "wait_p50"?`},
	}
	_, err := Parse("ten.yaml", []byte(src))
	var f *strict.Faults
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want faults", err)
	}
	if len(f.List) != len(want) {
		t.Errorf("got %d faults, want %d:\n%s", len(f.List), len(want), err)
	}
	for i, w := range want {
		if i >= len(f.List) {
			break
		}
		if g := f.List[i]; g.Line != w.line || g.Col != w.col || !strings.Contains(g.Text, w.text) {
			t.Errorf("fault %d: got %d:%d %s, want %d:%d …%s…", i, g.Line, g.Col, g.Text, w.line, w.col, w.text)
		}
	}
}

func TestConfigOfTheWholeShape(t *testing.T) {
	s, err := Parse("plans/full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Config(nil, Options{Seed: s.Seed})
	if err != nil {
		t.Fatal(err)
	}
	start, _ := capcli.ParseSeconds("31d")
	checks := []struct {
		what      string
		got, want any
	}{
		{"dir", s.Dir, "plans"},
		{"start", c.Start.String(), "2027-01-01T00:00:00Z"},
		{"until", c.Until, 365 * capcli.Day},
		{"pools", len(c.Pools), 4},
		{"counted nodes", c.Pools[0].Nodes, 1},
		{"counted GPUs", c.Pools[0].GPUsPerNode, 64},
		{"nodes", c.Pools[1].Nodes, 8},
		{"cpus", c.Pools[1].CPUMilli, int64(96000)},
		{"mem", c.Pools[1].MemMiB, int64(1024 * 1024)},
		{"from", c.Pools[1].From, start},
		{"until", c.Pools[1].Until, 181 * capcli.Day},
		{"failing nodes", c.Pools[1].Supply != nil, true},
		{"od rank", c.Pools[2].Rank, 1},
		{"spot rank", c.Pools[3].Rank, 0},
		{"lead", c.Pools[2].Lead, 300 * capcli.Seconds(1)},
		{"min billing", c.Pools[2].MinBilling, capcli.Minute},
		{"patience", c.Overflow.Patience[0], simulate.Patience{MaxRun: 2 * capcli.Hour, Wait: 6 * capcli.Hour, PerHour: 4.0 / 60}},
		{"for ever", c.Overflow.Patience[1].Wait, Never},
		{"mode", c.Restarts.Mode, simulate.Checkpoint},
		{"class", c.Restarts.Classes[0], simulate.RestartClass{Class: "training", MaxGPUs: 8, Interval: 1800, Cost: 20, Restart: 60}},
		{"tenant", c.Tenants[0].Weight, 2.0},
		{"quota", c.Tenants[0].Quota, 40},
		{"limits", s.Limits[0].String() + ", " + s.Limits[1].String(), "wait_p95 <= 30m, cost <= 1.70M"},
		{"queue limit", c.Settings.Limits[0], 3250 * capcli.GPUSecond},
	}
	for _, x := range checks {
		if x.got != x.want {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
	r, err := s.Rates(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"2.20 3.90", "1.10 3.90", "3.90 3.90", "1.60 5.00"} {
		if got := r[i].Price.Decimal() + " " + r[i].OnDemand.Decimal(); got != want {
			t.Errorf("rate %d: got %s, want %s", i, got, want)
		}
	}
}

const full = `capcli: scenario/v1
name: full
period: 2027-01-01 to 2027-12-31
seed: 7
jobs: {from: jobs.csv, format: csv, tz: UTC, cpu_jobs: true, kill_at_limit: true}
capacity:
  - {name: base, kind: reserved, gpu_model: A100, gpus: 64, term: 1y, price: 2.20 USD/gpu-h}
  - {name: big, kind: owned, gpu_model: H100, nodes: 8, gpus_per_node: 8, cpus_per_node: 96, mem_gb_per_node: 1024,
     partition: vc1, price: 1.10, failures: {mtbf: 30d, repair: 4h}, from: 2027-02-01, until: 2027-06-30}
  - {name: od, kind: on_demand, max_gpus: 64, price: $3.90, lead_time: 5m, min_billing: 60s}
  - {kind: spot, nodes: 4, gpus_per_node: 8, price: 1.60, on_demand_price: 5, hazard: {mean_up: 11d, mean_down: 2h, notice: 2m}}
policy: {name: las, queue_limits: [3250, 2h]}
placement: count
overflow: {order: [spot, od], patience: [{max_run: 2h, wait: 6h}, {wait: never}], patience_per_gpu_hour: 4m, queue_max: 30}
preemption: {mode: checkpoint, classes: [{class: training, max_gpus: 8, checkpoint_every: 30m, checkpoint_cost: 20s, restart: 60s}]}
tenants: [{name: research, weight: 2, quota: 40}]
limits: {wait_p95: 30m, cost: 1.70M}
`

func TestSmallestScenarioRuns(t *testing.T) {
	s, err := Parse("S.yaml", []byte("capcli: scenario/v1\ncapacity:\n  - {kind: owned, gpus: 4, free: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	jobs := func(yield func(capcli.Job, error) bool) {
		for i := range 3 {
			if !yield(capcli.Job{ID: string(rune('a' + i)), GPUs: 3, Submit: 1000, Run: 10, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime}, nil) {
				return
			}
		}
	}
	c, err := s.Config(jobs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "S" || r.Jobs.Finished != 3 || r.Wait.Max != 20 {
		t.Errorf("got scenario %q, %d finished, longest wait %d; want S, 3, 20", s.Name, r.Jobs.Finished, r.Wait.Max)
	}
}

func TestOrderOfOverflow(t *testing.T) {
	const pools = `capcli: scenario/v1
capacity:
  - {name: own, kind: owned, gpus: 4, free: true}
  - {name: cheap, kind: spot, price: 1}
  - {name: a, kind: on_demand, price: 2, gpus: 8}
  - {name: b, kind: on_demand, price: 3}
`
	for _, x := range []struct {
		order string
		ranks [3]int // of cheap, a, b
	}{
		{"", [3]int{3, 2, 2}},
		{"overflow: {order: [on_demand, spot]}", [3]int{1, 0, 0}},
		{"overflow: {order: [committed, spot, on_demand]}", [3]int{1, 2, 2}},
		{"overflow: {order: [b, cheap, a]}", [3]int{1, 2, 0}},
		{"overflow: {order: [b]}", [3]int{4, 3, 0}},
	} {
		s, err := Parse("s.yaml", []byte(pools+x.order))
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Config(nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{c.Pools[1].Rank, c.Pools[2].Rank, c.Pools[3].Rank}; got != x.ranks {
			t.Errorf("%q: got ranks %v, want %v", x.order, got, x.ranks)
		}
		if c.Pools[2].GPUsPerNode != 8 || c.Pools[3].GPUsPerNode != unlimited {
			t.Errorf("got ceilings %d and %d, want 8 and none", c.Pools[2].GPUsPerNode, c.Pools[3].GPUsPerNode)
		}
	}
}

func TestPatiencePerGPUHour(t *testing.T) {
	for text, want := range map[string]float64{"4m": 4. / 60, "0.076h": 0.076, "273.6s": 0.076, "90": 0.025, "1h30m": 1.5, "0s": 0} {
		s, err := Parse("s.yaml", []byte(head+"overflow: {patience_per_gpu_hour: "+text+"}\n"))
		if err != nil {
			t.Error(err)
		} else if got := s.Overflow.PerGPUHour; got < want-1e-12 || got > want+1e-12 {
			t.Errorf("%s: got %v h, want %v", text, got, want)
		}
	}
	for _, text := range []string{"-1h", "NaNh", "Infs", "1e9h", "h", "[1h]"} {
		if _, err := Parse("s.yaml", []byte(head+"overflow: {patience_per_gpu_hour: "+text+"}\n")); err == nil {
			t.Errorf("%s: got no fault", text)
		}
	}
}

// Ids are texts, whatever they look like: 6214e9 is a virtual cluster of Philly.
func TestIdsAreTexts(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`capcli: scenario/v1
name: 2027
trace: 0777
jobs: {cpu_jobs: true}
capacity: [{name: no, kind: owned, gpus: 8, partition: 6214e9, gpu_model: 1e3, free: true}]
tenants: [{name: 103959}, {name: true}, {name: 2027-01-01}]
`))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Capacity[0]
	got := strings.Join([]string{s.Name, s.Jobs.From, c.Name, c.Partition, c.GPUModel, s.Tenants[0].Name, s.Tenants[1].Name, s.Tenants[2].Name}, " ")
	if want := "2027 0777 no 6214e9 1e3 103959 true 2027-01-01"; got != want || !s.Jobs.CPUJobs {
		t.Errorf("got %s, want %s", got, want)
	}
}
