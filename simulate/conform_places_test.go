package simulate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// customs counts what crosses from region to region by rules of its own, and refuses who may not.
type customs struct {
	t      *rapid.T
	pools  []simulate.Pool
	keeps  string // the region that keeps copies, without limit; "" is none
	at     map[string]string
	copies map[string]bool
	moved  map[string]int64
}

// regionIn is the first two parts of a place.
func regionIn(place string) string {
	parts := append(strings.Split(place, "/"), "", "")
	return strings.Trim(parts[0]+"/"+parts[1], "/")
}

func (c *customs) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil || e.Job.Data == nil || e.Kind != simulate.Start && e.Kind != simulate.Finish {
		return
	}
	d, place := e.Job.Data, c.pools[e.Pool].Place.String()
	region, home := regionIn(place), regionIn(d.Home)
	inside := func(in string) bool { return strings.HasPrefix(place+"/", in+"/") }
	if slices.ContainsFunc(d.Not, inside) || len(d.Only) > 0 && !slices.ContainsFunc(d.Only, inside) {
		c.t.Fatalf("%s runs at %q: only %v, not %v", e.Job.ID, place, d.Only, d.Not)
	}
	if d.Within > 0 && d.Within < 50 && region != home {
		c.t.Fatalf("%s runs at %q, further than %d ms from %q", e.Job.ID, place, d.Within, d.Home)
	}
	switch there, back := int64(d.GiB*1024), int64(d.BackGiB*1024); {
	case home == "" || region == home:
	case e.Kind == simulate.Finish:
		c.moved[region+">"+home] += back
	case c.at[e.Job.ID] != region:
		if d.Name == "" || !c.copies[region+":"+d.Name] {
			c.moved[home+">"+region] += there
		}
		if c.at[e.Job.ID] = region; d.Name != "" && region == c.keeps {
			c.copies[region+":"+d.Name] = true
		}
	}
}

// spread draws places for the pools of a world and data for its jobs.
func spread(t *rapid.T, w *world) {
	names := []simulate.Place{{}, {Provider: "a", Region: "x"}, {Provider: "a", Region: "x", Zone: "1"}, {Provider: "a", Region: "y"}, {Provider: "b", Region: "x"}}
	places := make([]simulate.Place, len(w.pools))
	for i := range places {
		places[i] = rapid.SampledFrom(names).Draw(t, "place")
	}
	texts := []string{"a", "a/x", "a/x/1", "a/y", "b", "b/x"}
	var data []*capcli.Data
	for k := range rapid.IntRange(1, 4).Draw(t, "data") {
		d := &capcli.Data{
			Home: rapid.SampledFrom([]string{"", "a/x", "a/y", "b/x"}).Draw(t, "home"), GiB: float64(rapid.IntRange(0, 40).Draw(t, "GiB")),
			BackGiB: float64(rapid.IntRange(0, 2).Draw(t, "back")), Within: rapid.SampledFrom([]int{0, 0, 20, 80}).Draw(t, "within"),
		}
		if rapid.Bool().Draw(t, "named") {
			d.Name = fmt.Sprint("set", k)
		}
		if rapid.IntRange(0, 2).Draw(t, "only") == 0 {
			d.Only = rapid.SliceOfNDistinct(rapid.SampledFrom(texts), 1, 3, rapid.ID).Draw(t, "places")
		}
		if rapid.IntRange(0, 2).Draw(t, "not") == 0 {
			d.Not = []string{rapid.SampledFrom(texts).Draw(t, "place")}
		}
		data = append(data, d)
	}
	for i := range w.jobs {
		if k := rapid.IntRange(-1, len(data)-1).Draw(t, "data of"); k >= 0 {
			w.jobs[i].Data = data[k]
		}
	}
	keeps := rapid.SampledFrom([]string{"", "a/x", "b/x"}).Draw(t, "keeps")
	coster := rapid.Bool().Draw(t, "by cost")
	inner := w.change
	w.change = func(c *simulate.Config) {
		if inner != nil {
			inner(c)
		}
		for i := range c.Pools {
			c.Pools[i].Place = places[i]
		}
		c.Places = &simulate.Places{MiBps: []simulate.Link{{From: "a", To: "a", Value: 4096}, {Value: 1024}}, Millis: []simulate.Link{{Value: 50}}}
		if keeps != "" {
			c.Places.Keep = []simulate.Keep{{Place: keeps}}
		}
		if coster {
			c.Coster = dearFar{}
		}
		c.Observers = append(c.Observers, &customs{
			t: t, pools: slices.Clone(c.Pools), keeps: keeps, at: map[string]string{}, copies: map[string]bool{}, moved: map[string]int64{},
		})
	}
}

// dearFar makes pools with less to move cheaper.
type dearFar struct{}

func (dearFar) Cost(_ *simulate.Live, _ int, t simulate.Transfer) int64 { return t.MiB + t.Back }

// TestConformPlaces holds every policy with every placement to the laws with pools and data in several
// places: residency and latency hold, and the record has what an observer sees move.
func TestConformPlaces(t *testing.T) {
	limitDraws(t, 4)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				if rapid.Bool().Draw(rt, "interrupted") {
					interrupted(rt, &w)
				}
				if rapid.Bool().Draw(rt, "delayed") {
					delayed(rt, &w)
				}
				spread(rt, &w)
				var seen *customs
				change := w.change
				w.change = func(c *simulate.Config) {
					change(c)
					seen = c.Observers[len(c.Observers)-1].(*customs)
				}
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				w.checkEnd(rt, r, a)
				checkMoves(rt, r, seen.moved)
				log, moves := a.log.String(), fmt.Sprint(r.Record.Moves, r.Record.Stored, r.Places)
				r2, b := w.play(t, pol.Value, pl.Value(), w.jobs)
				if log != b.log.String() || moves != fmt.Sprint(r2.Record.Moves, r2.Record.Stored, r2.Places) {
					rt.Fatal("the same config gave two different runs")
				}
			}))
		}
	}
}

// checkMoves compares the record with what an observer saw move, from region to region, in MiB.
func checkMoves(t *rapid.T, r *simulate.Result, want map[string]int64) {
	got := map[string]int64{}
	for _, m := range r.Record.Moves {
		got[m.From+">"+m.To] += m.MiB
	}
	maps.DeleteFunc(want, func(_ string, mib int64) bool { return mib == 0 })
	if !maps.Equal(got, want) {
		t.Fatalf("the record says that %v MiB were moved, an observer saw %v", got, want)
	}
	if r.Places == nil {
		return
	}
	var sum, all int64
	for _, p := range r.Places.Places {
		sum += p.In + p.Out
	}
	for _, mib := range got {
		all += mib
	}
	if sum != all {
		t.Fatalf("the places say %d MiB, the record %d", sum, all)
	}
}

// playPlaces runs jobs in order of the list on pools of one GPU each.
func playPlaces(t *testing.T, p *simulate.Places, pools []simulate.Pool, jobs ...capcli.Job) (*simulate.Result, []string) {
	t.Helper()
	log := &startStop{}
	for i := range pools {
		if pools[i].Nodes == 0 {
			pools[i].Nodes, pools[i].GPUsPerNode = 1, 1
		}
	}
	r, err := simulate.Run(context.Background(), simulate.Config{
		Pools: pools, List: jobs, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Places: p, Observers: []simulate.Observer{log},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, log.lines
}

// Data is moved before a job runs, and its copy serves the next job until another takes its room.
func TestCopies(t *testing.T) {
	set := func(name string, gib float64) *capcli.Data {
		return &capcli.Data{Name: name, Home: "a/x", GiB: gib, BackGiB: 1}
	}
	small, big := set("small", 10), set("big", 15)
	job := func(id string, at capcli.Time, d *capcli.Data) capcli.Job {
		return capcli.Job{ID: id, Submit: at, Run: 100, GPUs: 1, Deadline: capcli.NoTime, Data: d}
	}
	places := &simulate.Places{MiBps: []simulate.Link{{From: "a/x", To: "b", Value: 1024}}, Keep: []simulate.Keep{{Place: "b/y", MiB: 20 * 1024}}}
	r, lines := playPlaces(t, places, []simulate.Pool{{Name: "p", Place: simulate.Place{Provider: "b", Region: "y"}}},
		job("1", 0, small), job("2", 200, small), job("3", 400, big), job("4", 600, small))
	want := []string{
		"0 start 1", "110 finish 1", "200 start 2", "300 finish 2", // the copy of 10 GiB takes 10 s, and stays
		"400 start 3", "515 finish 3", "600 start 4", "710 finish 4", // 15 GiB take its room, and give it back
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	got := r.Places.Places[0]
	if got != (simulate.PlaceTally{Place: "b/y", Jobs: 4, Used: 435 * capcli.GPUSecond, Transfers: 3, In: 35 * 1024, Out: 4 * 1024, Time: 35, Found: 1, Dropped: 2}) {
		t.Errorf("got %+v", got)
	}
	if r.Redone != 0 || r.Goodput != 400*capcli.GPUSecond {
		t.Errorf("%d was done again and %d done: waiting for data is neither", r.Redone, r.Goodput)
	}
	var stored int64
	for _, s := range r.Record.Stored {
		stored += s.MiBSeconds
	}
	if want := int64(10*400+15*200+10*110) * 1024; stored != want {
		t.Errorf("copies stayed for %d MiB-seconds, want %d", stored, want)
	}
}

// A job whose data may be nowhere is refused, and the reason is named.
func TestResidencyRefuses(t *testing.T) {
	for _, c := range []struct {
		data capcli.Data
		why  string
	}{
		{capcli.Data{Only: []string{"a/eu-1", "b"}}, "may run only in a/eu-1, b, and no pool that it could use is known to be there"},
		{capcli.Data{Not: []string{"*/us-*"}}, "may not run in */us-*, and no pool that it could use is known to be there"},
		{capcli.Data{Home: "a/eu-1", Within: 20}, "must run within 20 ms of its users in a/eu-1, and no pool that it could use is known to be"},
		{capcli.Data{Home: "a/us-1", UsersAt: "a/eu-1", Within: 99}, "must run within 99 ms of its users in a/eu-1, and no pool that it could use is known to be"},
	} {
		places := &simulate.Places{Millis: []simulate.Link{{Value: 100}}}
		r, _ := playPlaces(t, places, []simulate.Pool{{Name: "p", Place: simulate.Place{Provider: "a", Region: "us-1"}}},
			capcli.Job{ID: "1", Run: 100, GPUs: 1, Deadline: capcli.NoTime, Data: &c.data})
		if len(r.Refused) != 1 || r.Refused[0].Why != c.why {
			t.Errorf("%+v: got %+v, want %q", c.data, r.Refused, c.why)
		}
		if b := r.Places.Barred; len(b) != 1 || b[0].Residency+b[0].Latency != 1 {
			t.Errorf("%+v: barred %+v", c.data, b)
		}
	}
}

// By cost, a job goes to the dearer pool beside its data.
func TestCheapestPlace(t *testing.T) {
	pools := []simulate.Pool{
		{Name: "far", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 8, Place: simulate.Place{Provider: "b", Region: "y"}},
		{Name: "near", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 8, Place: simulate.Place{Provider: "a", Region: "x"}},
	}
	jobs := []capcli.Job{{ID: "1", Run: 10, GPUs: 8, Deadline: capcli.NoTime, Data: &capcli.Data{Home: "a/x", GiB: 1}}, {ID: "2", Run: 10, GPUs: 8, Deadline: capcli.NoTime}}
	for _, policy := range []string{"fifo", "goodput", "gavel"} {
		for _, coster := range []simulate.Coster{nil, dearFar{}} {
			var pool []int
			_, err := simulate.Run(t.Context(), simulate.Config{
				Pools: pools, List: jobs, Policy: mustPolicy(t, policy), Placement: mustPlacement(t, "count"), Coster: coster,
				Observers: []simulate.Observer{startsIn{&pool}},
			})
			if err != nil {
				t.Fatal(err)
			}
			want := []int{0, 1}
			if coster != nil {
				want = []int{1, 0}
			}
			if !slices.Equal(pool, want) {
				t.Errorf("%s: with %v the jobs start in pools %v, want %v", policy, coster, pool, want)
			}
		}
	}
}

type startsIn struct{ pools *[]int }

func (s startsIn) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		*s.pools = append(*s.pools, e.Pool)
	}
}

// Two elastic pools of one model without a limit are more GPUs than the program of gavel can count.
func TestGavelWithoutLimit(t *testing.T) {
	var pool []int
	_, err := simulate.Run(t.Context(), simulate.Config{
		Pools: []simulate.Pool{
			{Name: "a", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1_000_000},
			{Name: "b", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1_000_000},
		},
		List:   []capcli.Job{{ID: "1", Run: 10, GPUs: 8, Deadline: capcli.NoTime}},
		Policy: mustPolicy(t, "gavel"), Placement: mustPlacement(t, "count"), Observers: []simulate.Observer{startsIn{&pool}},
	})
	if err != nil || len(pool) != 1 {
		t.Errorf("the job started %d times, %v", len(pool), err)
	}
}
