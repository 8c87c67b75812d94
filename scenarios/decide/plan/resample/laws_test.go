package resample_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/resample"
	"capcli/testdata/golden"
)

// past is a log of the tests.
type past struct {
	name string
	jobs []capcli.Job
}

var sharedLogs = []struct {
	name, file string
	most       int  // days
	long       bool // with CAPCLI_LONG alone
}{
	{"helios", "helios/helios_venus_2vc_sept.csv", 0, false},
	{"philly", "philly/philly_sia.csv.gz", 0, true},
	{"kth", "swf/KTH-SP2-1996-2.1-cln.swf.gz", 120, false},
	{"ricc", "swf/RICC-2010-2.swf.gz", 60, true},
	{"metacentrum", "swf/METACENTRUM-2009-2.swf.gz", 90, true},
	{"curie", "swf/CEA-Curie-2011-2.1-cln.swf.gz", 60, true},
	{"openb", "openb/openb_pod_list_default.csv.gz", 0, false},
	{"gaia", "gaia/pai-100k.csv.gz", 90, true},
}

// readLog reads a log of the shared data; nil where it is not there.
func readLog(tb testing.TB, file string) []capcli.Job {
	tb.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "data", file))
	if err != nil {
		return nil
	}
	defer f.Close()
	r, err := trace.Open(trace.Input{Name: f.Name(), R: f}, trace.Options{})
	if err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	var jobs []capcli.Job
	for j, err := range trace.Sorted(r.Jobs()) {
		if err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		if j.GPUs == 0 { // a cluster without GPUs: its processors stand for them
			j.GPUs = int((j.CPUMilli + 999) / 1000)
		}
		if j.GPUs > 0 && j.Run > 0 {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// firstDays are the jobs submitted within so many days; 0 is all.
func firstDays(jobs []capcli.Job, days int) []capcli.Job {
	if days == 0 || len(jobs) == 0 {
		return jobs
	}
	end := jobs[0].Submit + capcli.Time(days)*86400
	n, _ := slices.BinarySearchFunc(jobs, end, func(j capcli.Job, t capcli.Time) int { return cmp.Compare(j.Submit, t) })
	return jobs[:n]
}

func allLogs(t *testing.T) []past {
	var out []past
	for _, l := range sharedLogs {
		if l.long && os.Getenv("CAPCLI_LONG") == "" {
			continue
		}
		jobs := firstDays(readLog(t, l.file), l.most)
		if jobs == nil {
			continue
		}
		out = append(out, past{l.name, jobs})
		if l.name == "philly" {
			byVC := map[string][]capcli.Job{}
			for _, j := range jobs {
				byVC[j.Partition] = append(byVC[j.Partition], j)
			}
			var names []string
			for n, v := range byVC {
				if len(v) > 3000 {
					names = append(names, n)
				}
			}
			slices.Sort(names)
			for _, n := range names[:min(4, len(names))] {
				out = append(out, past{"philly/" + n, byVC[n]})
			}
		}
	}
	return append(out, madeLogs()...)
}

// madeLogs are ten logs of different kinds, of eight weeks each.
func madeLogs() []past {
	const week, start = 604800, capcli.Time(1_767_571_200) // Monday 2026-01-05
	kinds := []struct {
		name       string
		gap        float64             // mean seconds from one job to the next
		run, sigma float64             // median seconds of a run, and its spread
		gpus       []int               // one of them each
		busy       func(h int) float64 // by hour since the start: how much more jobs come
	}{
		{"steady", 900, 3600, 1, []int{1, 1, 2, 4, 8}, nil},
		{"week-long", 40000, 400000, 0.7, []int{8, 16, 32}, nil},
		{"long and short", 1200, 1500, 2.2, []int{1, 1, 1, 8}, nil},
		{"working hours", 600, 5400, 1, []int{1, 4}, func(h int) float64 { return []float64{0.2, 2}[h%24/8%2] }},
		{"workdays", 900, 7200, 1, []int{1, 2, 8}, func(h int) float64 { return []float64{1.4, 0.1}[h/24%7/5] }},
		{"bursts", 900, 2700, 1, []int{2, 4}, func(h int) float64 { return []float64{0.3, 6}[h%53/46] }},
		{"growing", 900, 10800, 1, []int{1, 2, 4}, func(h int) float64 { return 0.4 + float64(h)/700 }},
		{"large gangs", 20000, 20000, 1, []int{64, 128}, nil},
		{"tiny jobs", 300, 120, 0.8, []int{1, 1, 2}, nil},
		{"sparse", 90000, 30000, 1.2, []int{1, 2, 8}, nil},
	}
	var out []past
	for n, k := range kinds {
		rng := capcli.Seed(n).Stream("made")
		var jobs []capcli.Job
		for at := start; at < start+8*week; {
			busy := 1.0
			if k.busy != nil {
				busy = k.busy(int((at - start) / 3600))
			}
			at += 1 + capcli.Time(rng.ExpFloat64()*k.gap/busy)
			jobs = append(jobs, capcli.Job{
				ID: fmt.Sprint(len(jobs)), Submit: at, GPUs: k.gpus[rng.IntN(len(k.gpus))], Run: 1 + capcli.Seconds(k.run*math.Exp(k.sigma*rng.NormFloat64())),
				Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime,
			})
		}
		out = append(out, past{k.name, jobs})
	}
	return out
}

// levels are the GPU time that runs in each step of [from, from + n steps), played without waits, and the
// largest of one job.
func levels(jobs []capcli.Job, from capcli.Time, n int, step capcli.Time) (sum, largest []float64) {
	sum, largest = make([]float64, n), make([]float64, n)
	for i := range jobs {
		j := &jobs[i]
		end := j.Submit + capcli.Time(j.Run)
		for k := max(0, int((j.Submit-from)/step)); k < n && from+capcli.Time(k)*step < end; k++ {
			at := from + capcli.Time(k)*step
			if w := float64(j.Milli()) / 1000 * float64(min(end, at+step)-max(at, j.Submit)); w > 0 {
				sum[k] += w
				largest[k] = max(largest[k], w)
			}
		}
	}
	return sum, largest
}

func quantile(v []float64, q float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[int(q*float64(len(s)-1)+0.5)]
}

// ownPath is the demand of a log by day, from midnight on, and a start for a future on the same weekday.
type ownPath struct {
	from, start capcli.Time
	days        int
	work, most  []float64 // GPU time by day, and that of the largest job
	hours       []float64
}

func pathOf(jobs []capcli.Job) ownPath {
	o := ownPath{from: jobs[0].Submit / 86400 * 86400}
	last := jobs[len(jobs)-1].Submit
	o.days = int((last - o.from) / 86400)
	o.work, o.most = levels(jobs, o.from, o.days, 86400)
	o.hours, _ = levels(jobs, o.from, o.days*24, 3600)
	for o.start = o.from; o.start < last; {
		o.start += 7 * 86400
	}
	return o
}

func (o *ownPath) futures(share float64) plan.Futures {
	path := make([]float64, o.days)
	for i := range path {
		path[i] = share * o.work[i] / 86400
	}
	return plan.Futures{Grid: capcli.Step{Days: 1}.Grid(o.start, nil), Paths: [][]float64{path}}
}

// Played without waits, a drawn future holds on each day what its path wants, within the largest job of
// the day: of those drawn, or of the past day that the path is of.
func TestFuturesHoldTheirPath(t *testing.T) {
	for _, p := range allLogs(t) {
		o := pathOf(p.jobs)
		r, err := resample.NewResampler(p.jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		off, days := 0, 0
		for k, share := range []float64{1, 0.2, 0.7, 1.3, 4} {
			if os.Getenv("CAPCLI_LONG") == "" && k > 2 {
				break // for the time that they take
			}
			f := o.futures(share)
			jobs, filled, err := r.Fill(&f, 0, capcli.Seed(k))
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				continue
			}
			got, most := levels(jobs, o.start, o.days, 86400)
			var sum float64
			for i := range got {
				sum += got[i]
				days++
				if d := math.Abs(got[i] - share*o.work[i]); d > max(most[i], o.most[i])+1 {
					off++
					t.Logf("%s, %g times, day %d: holds %.0f GPU-hours, wanted %.0f, the largest job has %.0f", p.name, share, i, got[i]/3600, share*o.work[i]/3600, max(most[i], o.most[i])/3600)
				}
			}
			if math.Abs(sum-float64(filled.Drawn)/1000) > 1 {
				t.Errorf("%s, %g times: holds %.0f GPU-seconds, says %.0f", p.name, share, sum, float64(filled.Drawn)/1000)
			}
		}
		if off > 0 {
			t.Errorf("%s: %d of %d days differ by more than their largest job", p.name, off, days)
		}
	}
}

// The hourly level of a future along the log's own path has the quantiles of the log, within 10 % or
// one machine of 8 GPUs.
func TestFuturesHaveTheLevelsOfTheLog(t *testing.T) {
	for _, p := range allLogs(t) {
		o := pathOf(p.jobs)
		r, err := resample.NewResampler(p.jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := o.futures(1)
		jobs, _, err := r.Fill(&f, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		hours, _ := levels(jobs, o.start, o.days*24, 3600)
		for _, q := range []float64{.1, .25, .5, .75, .9} {
			got, want := quantile(hours, q)/3600, quantile(o.hours, q)/3600
			if math.Abs(got-want) > max(8, want/10) {
				t.Errorf("%s: q%g of the level is %.1f GPUs, of the log %.1f", p.name, 100*q, got, want)
			}
		}
	}
}

// Jobs that run at the log's end are in flight at the start of a future that wants them, with what is left of
// their run.
func TestWhatRunsAtTheLogsEndGoesOn(t *testing.T) {
	golden.SkipLong(t)
	for _, p := range madeLogs() {
		r, err := resample.NewResampler(p.jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		end := p.jobs[len(p.jobs)-1].Submit
		left := map[string]capcli.Seconds{} // by id
		var level float64
		for _, j := range p.jobs {
			if rest := capcli.Seconds(j.Submit + capcli.Time(j.Run) - end); rest > 0 && j.Submit < end {
				left[j.ID] = rest
				level += float64(j.GPUs)
			}
		}
		o := pathOf(p.jobs)
		f := plan.Futures{Grid: capcli.Step{Days: 1}.Grid(o.start, nil), Paths: [][]float64{slices.Repeat([]float64{level + 20}, 60)}}
		jobs, filled, err := r.Fill(&f, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, j := range jobs {
			id, mark, _ := strings.Cut(j.ID, "@")
			if !strings.HasSuffix(mark, ".rest") {
				continue
			}
			found++
			if j.Submit != o.start || j.Run != left[id] {
				t.Errorf("%s: job %s starts at %s and runs %d s, had %d s left", p.name, j.ID, j.Submit, j.Run, left[id])
			}
		}
		if found != len(left) || found != filled.InFlight {
			t.Errorf("%s: %d of %d jobs go on, says %d", p.name, found, len(left), filled.InFlight)
		}
	}
}
