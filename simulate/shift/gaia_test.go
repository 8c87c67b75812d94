package shift_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
	"capcli/simulate/shift"
	"capcli/testdata/golden"
)

// GAIA's world (Hanafy et al., ASPLOS 2024; the simulator umassos/GAIA, MIT): its clock ticks every five
// seconds, which are our seconds here. Some CPUs, our GPUs, are reserved at 0.4 of the price; a job that
// does not fit there as a whole goes on demand. What a job frees is there for others only a tick after
// it ended. Jobs of less than two hours are short and the others long, and each kind has its longest wait.
const (
	tick     = 5
	hour     = 3600 / tick
	price    = 0.0624  // on demand, an hour
	spot     = 0.01248 // the same
	discount = 0.4
	short    = 2 * hour
	gaiaEnd  = 720 * hour // of the carbon trace
)

var shared = filepath.Join("..", "..", "..", "shared")

// variant is one run of GAIA, as its files name it: gaia-{policy}-{index}-{choice}-{zone}-{reserved}-{waits}.
type variant struct {
	policy, choice, zone, waits string
	index, reserved             int
}

func variantOf(t *testing.T, file string) variant {
	t.Helper()
	parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".csv.gz"), "-")
	at := slices.IndexFunc(parts, func(s string) bool { _, err := strconv.Atoi(s); return err == nil })
	if at < 2 || len(parts) < at+5 {
		t.Fatalf("%s: no variant of GAIA", file)
	}
	n := len(parts)
	return variant{
		policy: strings.Join(parts[1:at], "-"), index: int(number(t, parts[at])), choice: parts[at+1],
		zone: strings.Join(parts[at+2:n-2], "-"), reserved: int(number(t, parts[n-2])), waits: parts[n-1],
	}
}

// rows reads a CSV file, gzip or plain, or skips the test.
func rows(t testing.TB, parts ...string) []map[string]string {
	t.Helper()
	name := filepath.Join(append([]string{shared}, parts...)...)
	f, err := os.Open(name)
	if err != nil {
		t.Skipf("the shared data are not here: %v", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var head []string
	var out []map[string]string
	for s := bufio.NewScanner(r); s.Scan(); {
		cells := strings.Split(s.Text(), ",")
		if head == nil {
			head = cells
			continue
		}
		row := map[string]string{}
		for i, h := range head {
			row[h] = cells[i]
		}
		out = append(out, row)
	}
	return out
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// gaiaJobs returns the jobs of a week of Alibaba's PAI, in ticks, and the mean lengths of short and long
// ones.
func gaiaJobs(t testing.TB) (jobs []capcli.Job, mean [2]capcli.Seconds) {
	t.Helper()
	var sum, n [2]float64
	for i, r := range rows(t, "data", "gaia", "pai_1k.csv") {
		length := number(t, r["length"]) / tick
		if length <= short {
			sum[0], n[0] = sum[0]+length, n[0]+1
		}
		if length >= short {
			sum[1], n[1] = sum[1]+length, n[1]+1
		}
		jobs = append(jobs, capcli.Job{
			ID: strconv.Itoa(i), Submit: capcli.Time(number(t, r["arrival_time"]) / tick), Run: capcli.Seconds(length),
			GPUs: int(number(t, r["cpus"])), Deadline: capcli.NoTime,
		})
	}
	slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return jobs, [2]capcli.Seconds{capcli.Seconds(sum[0] / n[0]), capcli.Seconds(sum[1] / n[1])}
}

// zones are the hourly series of carbon by zone, in milligrams for a kilowatt-hour from 2022-01-01 on.
func zones(t testing.TB) map[string][]int64 {
	t.Helper()
	out := map[string][]int64{}
	for _, r := range rows(t, "data", "carbon", "electricitymaps_hourly_2021_2024.csv.gz") {
		if r["timestamp_utc"] >= "2022" {
			out[r["zone"]] = append(out[r["zone"]], int64(number(t, r["gco2_per_kwh"])*1000+0.5))
		}
	}
	return out
}

// signalOf returns the carbon of a variant's month.
func signalOf(t testing.TB, v *variant, all map[string][]int64) *shift.Signal {
	t.Helper()
	steps := []shift.Step{{Value: 500_000}} // its trace CONST
	if v.zone != "CONST" {
		steps = nil
		if len(all[v.zone]) < v.index+720 {
			t.Skipf("%s: the series of the zone is not here", v.zone)
		}
		for h, g := range all[v.zone][v.index : v.index+720] {
			steps = append(steps, shift.Step{From: capcli.Time(h * hour), Value: g})
		}
	}
	s, err := shift.NewSignal(steps, gaiaEnd)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rulesOf returns the rules of a variant. Runs are one tick longer than jobs, which the policies are not
// told.
func rulesOf(t testing.TB, v *variant, mean [2]capcli.Seconds, s *shift.Signal) []shift.Rule {
	t.Helper()
	name := map[string]string{"oracle": "lowest-window", "waiting": "lowest-window", "cst_oracle": "carbon-time", "cst_average": "carbon-time"}[v.choice]
	if strings.HasPrefix(v.policy, "suspend") {
		name = "suspend"
	}
	inner, err := shift.Policies.Get(name)
	if v.policy == "cost" { // waits as long as it may, and uses committed capacity before
		inner, err = func(_ *shift.Signal, a shift.Ask) []simulate.Part {
			return []simulate.Part{{From: a.Most, To: a.Most + a.Run}}
		}, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	average := v.choice == "waiting" || v.choice == "cst_average"
	waits := strings.Split(v.waits, "x")
	var out []shift.Rule
	for k, w := range waits {
		r := shift.Rule{Most: capcli.Seconds(number(t, w) * hour), Exact: true, Step: hour, Signals: []*shift.Signal{s, s, s}, CommittedFirst: strings.Contains(v.policy, "cost")}
		if average {
			r.Length = mean[k]
		}
		r.Policy = func(s *shift.Signal, a shift.Ask) []simulate.Part {
			if !average {
				a.Run--
			}
			plan := inner(s, a)
			plan[len(plan)-1].To++
			return plan
		}
		if k+1 < len(waits) {
			r.MaxRun = short
		}
		out = append(out, r)
	}
	return out
}

// schedule is when each job began, how long it paused, and whether its first stay was on reserved capacity.
type schedule struct {
	start    map[string]capcli.Seconds
	end      map[string]capcli.Seconds
	onDemand float64 // dollars
	spot     float64
	last     capcli.Seconds
}

func (s *schedule) dollars(reserved int) float64 {
	return s.onDemand + s.spot + float64(reserved)*discount*price*float64(s.last)/hour
}

// Observe implements simulate.Observer.
func (s *schedule) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		if _, again := s.start[e.Job.ID]; !again {
			s.start[e.Job.ID] = e.At
		}
		s.last = max(s.last, e.At)
	case simulate.Finish:
		s.end[e.Job.ID] = e.At - 1
		for _, h := range e.Job.Holds() {
			held := float64(h.Used)/1000 - float64(e.Job.GPUs) // less the tick in which only its reservation is not free
			switch h.Pool {
			case 1:
				s.onDemand += held / hour * price
			case 2:
				s.spot += held / hour * spot
			}
		}
	default:
	}
}

// play runs a variant in the engine.
func play(t testing.TB, v *variant, jobs []capcli.Job, d *shift.Delayer) (*schedule, *simulate.Result) {
	t.Helper()
	pools := []simulate.Pool{
		{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: max(1, v.reserved)},
		{Name: "burst", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 100_000},
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].Run++
	}
	if strings.Contains(v.policy, "spot") { // of jobs up to two hours
		pools = append(pools, simulate.Pool{Name: "spot", Terms: simulate.Spot, Nodes: 1, GPUsPerNode: 100_000, Partition: "short"})
		pools[0].Partition, pools[1].Partition = "long", "long"
		for i := range jobs {
			if jobs[i].Partition = "long"; jobs[i].Run-1 <= short {
				jobs[i].Partition = "short"
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
	s := &schedule{start: map[string]capcli.Seconds{}, end: map[string]capcli.Seconds{}}
	res, err := simulate.Run(context.Background(), simulate.Config{
		Pools: pools, List: jobs, Policy: fifo, Settings: simulate.Settings{Skip: true}, Placement: count(),
		Delayer: d, Observers: []simulate.Observer{s},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, res
}

// TestGAIAGolden plays each variant of GAIA whose answer is there: every start, and the dollars to the
// cent.
func TestGAIAGolden(t *testing.T) {
	golden.SkipLong(t)
	files, _ := filepath.Glob(filepath.Join(shared, "golden", "dl", "gaia-*.csv.gz"))
	if len(files) == 0 {
		t.Skip("golden answers are not here")
	}
	all := zones(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			v := variantOf(t, file)
			jobs, mean := gaiaJobs(t)
			s := signalOf(t, &v, all)
			want := &schedule{start: map[string]capcli.Seconds{}}
			var dollars float64
			order := map[string]int{} // of its rows: it takes jobs that come together in an order of its own
			for i, r := range rows(t, "golden", "dl", filepath.Base(file)) {
				if _, again := order[r["ID"]]; !again {
					order[r["ID"]] = i
				}
			}
			slices.SortStableFunc(jobs, func(a, b capcli.Job) int {
				return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(order[a.ID], order[b.ID]))
			})
			got, _ := play(t, &v, jobs, shift.NewDelayer(rulesOf(t, &v, mean, s)))
			for _, r := range rows(t, "golden", "dl", filepath.Base(file)) {
				dollars += number(t, r["dollar_cost"])
				if at := capcli.Seconds(number(t, r["start_time"])); r["ID"] != "-1" {
					if first, again := want.start[r["ID"]]; !again || at < first {
						want.start[r["ID"]] = at
					}
				}
			}
			sameStarts(t, got, want)
			if off := got.dollars(v.reserved) - dollars; off > 5e-3 || off < -5e-3 {
				t.Errorf("costs $%.4f, want $%.4f", got.dollars(v.reserved), dollars)
			}
		})
	}
}

func sameStarts(t *testing.T, got, want *schedule) {
	t.Helper()
	differ := 0
	for id, w := range want.start {
		if g := got.start[id]; g != w {
			if differ++; differ <= 3 {
				t.Errorf("job %s starts at %d, want %d", id, g, w)
			}
		}
	}
	if differ > 0 || len(want.start) != len(got.start) {
		t.Errorf("%d of %d starts differ; %d jobs started", differ, len(want.start), len(got.start))
	}
}

// TestGAIAPlain plays GAIA's policies on real series of carbon beside its rules written plainly, tick by
// tick.
func TestGAIAPlain(t *testing.T) {
	all := zones(t)
	jobs, mean := gaiaJobs(t)
	try := func(zone, p, waits string) {
		name, choice, _ := strings.Cut(p, "/")
		v := variant{policy: name, choice: choice, zone: zone, waits: waits, index: 7000, reserved: 9}
		t.Run(fmt.Sprint(zone, " ", p, " ", waits), func(t *testing.T) {
			s := signalOf(t, &v, all)
			got, _ := play(t, &v, jobs, shift.NewDelayer(rulesOf(t, &v, mean, s)))
			want := plainly(t, &v, jobs, mean, all[zone][7000:7720])
			sameStarts(t, got, want)
			if off := got.dollars(9) - want.dollars(9); off > 1e-6 || off < -1e-6 {
				t.Errorf("costs $%.4f, want $%.4f", got.dollars(9), want.dollars(9))
			}
		})
	}
	for _, p := range []string{"carbon/oracle", "carbon/waiting", "carbon/cst_oracle", "carbon/cst_average", "carbon-cost/waiting", "carbon-cost/cst_average", "cost/oracle", "carbon-spot/waiting"} {
		try("AU-NSW", p, "6x24")
	}
	try("AU-NSW", "cost/oracle", "24x24")
	try("US-CAL-CISO", "carbon-cost/cst_average", "24x24")
	try("SE", "carbon-cost/waiting", "6x24")
	try("DE", "carbon/oracle", "6x24")
}

// TestGAIAPauses: a job that pauses runs in the seconds that were chosen, for capacity is always there on
// demand, and ends when the last of them ends.
func TestGAIAPauses(t *testing.T) {
	all := zones(t)
	jobs, mean := gaiaJobs(t)
	v := variant{policy: "suspend-resume", choice: "oracle", zone: "AU-NSW", waits: "6x24", index: 7000, reserved: 9}
	s := signalOf(t, &v, all)
	rules := rulesOf(t, &v, mean, s)
	d := shift.NewDelayer(rules)
	got, res := play(t, &v, jobs, d)
	var pauses int64
	for _, j := range jobs {
		r := &rules[0]
		if j.Run >= 2*hour {
			r = &rules[1]
		}
		plan := r.Policy(s, shift.Ask{At: j.Submit, Run: j.Run + 1, Most: r.Most})
		pauses += int64(len(plan) - 1)
		if start, end := capcli.Seconds(j.Submit)+plan[0].From, capcli.Seconds(j.Submit)+plan[len(plan)-1].To-1; got.start[j.ID] != start || got.end[j.ID] != end {
			t.Fatalf("%s: job %s runs from %d to %d, want %d to %d", v.policy, j.ID, got.start[j.ID], got.end[j.ID], start, end)
		}
	}
	short, long := d.Savings()[0], d.Savings()[1]
	if res.Delays.Pauses != pauses || pauses == 0 || short.Jobs+long.Jobs != int64(len(jobs)) || short.Least > short.Chosen || long.Least > long.Chosen {
		t.Errorf("%s: %d pauses, want %d; %+v %+v", v.policy, res.Delays.Pauses, pauses, short, long)
	}
}

// plainly is GAIA's simulator by its rules: each tick, jobs in order of arrival go when their time has
// come, or to reserved CPUs that are free if the policy looks at cost; then what jobs held is free.
func plainly(t *testing.T, v *variant, jobs []capcli.Job, mean [2]capcli.Seconds, carbon []int64) *schedule {
	t.Helper()
	out := &schedule{start: map[string]capcli.Seconds{}}
	free, frees := v.reserved, map[capcli.Seconds]int{}
	var queue []capcli.Job
	at := map[string]capcli.Seconds{}
	for now := capcli.Seconds(0); len(jobs) > 0 || len(queue) > 0; now++ {
		for len(jobs) > 0 && capcli.Seconds(jobs[0].Submit) <= now {
			at[jobs[0].ID] = now + plainStart(t, v, &jobs[0], now, mean, carbon)
			queue = append(queue, jobs[0])
			jobs = jobs[1:]
		}
		queue = slices.DeleteFunc(queue, func(j capcli.Job) bool {
			if now < at[j.ID] && (!strings.Contains(v.policy, "cost") || free < j.GPUs) {
				return false
			}
			out.start[j.ID], out.last = now, now
			held := float64(j.GPUs) * float64(j.Run) / hour
			switch {
			case strings.Contains(v.policy, "spot") && j.Run <= short:
				out.spot += held * spot
			case free >= j.GPUs:
				free -= j.GPUs
				frees[now+j.Run] += j.GPUs
			default:
				out.onDemand += held * price
			}
			return true
		})
		free += frees[now]
	}
	return out
}

// plainStart looks through the starts that GAIA looks at.
func plainStart(t *testing.T, v *variant, j *capcli.Job, now capcli.Seconds, mean [2]capcli.Seconds, carbon []int64) capcli.Seconds {
	t.Helper()
	kind := 1
	if j.Run < short {
		kind = 0
	}
	waits := strings.Split(v.waits, "x")
	most := capcli.Seconds(number(t, waits[min(kind, len(waits)-1)]) * hour)
	run := j.Run
	if v.choice == "waiting" || v.choice == "cst_average" {
		run = mean[kind]
	}
	sum := func(from capcli.Seconds) (s int64) {
		for at := now + from; at < now+from+run; {
			next := min((at/hour+1)*hour, now+from+run)
			s += carbon[at/hour] * int64(next-at)
			at = next
		}
		return s
	}
	if v.policy == "cost" {
		return most
	}
	best, first := capcli.Seconds(0), sum(0)
	for x := capcli.Seconds(0); x <= most; x += hour {
		if strings.HasPrefix(v.choice, "cst") {
			if float64(first-sum(x))/float64(x+run) > float64(first-sum(best))/float64(best+run) {
				best = x
			}
		} else if sum(x) < sum(best) {
			best = x
		}
	}
	return best
}
