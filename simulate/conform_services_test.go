package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// Replica books what replicas hold beside jobs.
func (a *auditor) Replica(now capcli.Seconds, k simulate.Kind, s *simulate.Service, at []simulate.Slice) {
	fmt.Fprintln(&a.log, now, k, s.Name, at)
	sign := int64(1)
	if k == simulate.Finish {
		sign = -1
	}
	a.used[s.Tenant] += int(sign) * s.GPUs
	if q := a.quota[s.Tenant]; q > 0 && a.used[s.Tenant] > q {
		a.failf("%s holds %d GPUs over a quota of %d", s.Tenant, a.used[s.Tenant], q)
	}
	var milli int64
	for _, x := range at {
		a.book(now, s.Name, s.Partition, x, sign)
		milli += int64(x.GPUs)*1000 + int64(x.Milli)
		if s.Pools != nil && !slices.Contains(s.Pools, a.pools[x.Pool].Name) {
			a.failf("a replica of %s is in pool %s", s.Name, a.pools[x.Pool].Name)
		}
	}
	if want := s.Milli(); milli != want {
		a.failf("a replica of %s holds %d thousandths, wants %d", s.Name, milli, want)
	}
}

// drawServices draws services, which want nothing after their load.
func drawServices(t *rapid.T, w *world) (out []simulate.Service) {
	for i := range rapid.IntRange(1, 3).Draw(t, "services") {
		home := &w.pools[rapid.IntRange(0, len(w.pools)-1).Draw(t, "home")]
		s := simulate.Service{
			Name: fmt.Sprint("s", i), Tenant: rapid.SampledFrom([]string{"a", "b", "web"}).Draw(t, "tenant"),
			Partition: home.Partition, GPUModel: home.GPUModel, GPUs: rapid.IntRange(1, min(home.Capacity(), 9)).Draw(t, "gpus"),
			Length: capcli.Seconds(rapid.SampledFrom([]int{1, 7, 20}).Draw(t, "step")), PerReplica: int64(rapid.IntRange(1, 9).Draw(t, "per replica")),
			Late: rapid.IntRange(0, 3).Draw(t, "late"), Initial: rapid.IntRange(0, 3).Draw(t, "initial"), Displaces: rapid.Bool().Draw(t, "displaces"),
			Cold: capcli.Seconds(rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "cold")), Drain: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 11}).Draw(t, "drain")),
			Spares: rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "spares"),
		}
		if rapid.IntRange(0, 3).Draw(t, "share") == 0 {
			s.GPUs, s.GPUMilli = 1, rapid.IntRange(1, 1000).Draw(t, "milli")
		}
		if rapid.Bool().Draw(t, "tags") {
			s.Tags = capcli.NewTags(capcli.Tag{Name: "team", Value: "web"})
		}
		if rapid.Bool().Draw(t, "pools by name") {
			s.Pools = []string{home.Name}
		}
		var desired []int
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			s.Load = append(s.Load, int64(rapid.IntRange(0, 30).Draw(t, "load")))
			desired = append(desired, rapid.IntRange(0, 4).Draw(t, "desired"))
		}
		s.Scaler = wants(append(desired, 0)...)
		out = append(out, s)
	}
	return out
}

// TestConformServices holds runs with services, every policy and every placement to the laws of runs, on
// drawn worlds with all that may interrupt.
func TestConformServices(t *testing.T) {
	limitDraws(t, 3)
	for _, pol := range policy.Catalog.All() {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				if rapid.Bool().Draw(rt, "interrupted") {
					interrupted(rt, &w)
				}
				change, list := w.change, drawServices(rt, &w)
				w.change = func(c *simulate.Config) {
					if change != nil {
						change(c)
					}
					c.Services, c.Until = list, 2000
				}
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				if a.fault != "" {
					rt.Fatal(a.fault)
				}
				checkServices(rt, r, list)
				if c := r.Jobs; c.Preemptions > c.Losses+c.Stops+displacedIn(r) && !pol.Value.Preempts(w.set) {
					rt.Fatalf("%s took GPUs away %d times and does not declare it: see Preemptor", pol.Name, c.Preemptions-c.Losses-c.Stops)
				}
				r2, b := w.play(t, pol.Value, pl.Value(), w.jobs)
				if a.log.String() != b.log.String() || fmt.Sprintf("%+v", r.Services) != fmt.Sprintf("%+v", r2.Services) || fmt.Sprintf("%+v", r.Record.Months) != fmt.Sprintf("%+v", r2.Record.Months) {
					rt.Fatal("the same config gave two different runs")
				}
			}))
		}
	}
}

// displacedIn is how often jobs lost their GPUs to replicas.
func displacedIn(r *simulate.Result) (n int64) {
	for i := range r.Services {
		n += r.Services[i].Displaced
	}
	return n
}

// checkServices fails unless requests and GPU time of the services balance.
func checkServices(t *rapid.T, r *simulate.Result, list []simulate.Service) {
	for i := range r.Services {
		s := &r.Services[i]
		var load, served int64
		backlog := int64(0)
		for k, x := range s.Steps {
			load += x.Load
			served += x.Served
			if backlog+x.Load-x.Served != x.Backlog || x.Served < 0 || x.Backlog < 0 {
				t.Fatalf("%s step %d: %+v after a backlog of %d", s.Name, k, x, backlog)
			}
			backlog = x.Backlog
		}
		if s.Requests != load || s.Served != served || s.Requests != s.Served+s.Backlog || s.Late > s.Requests || s.Late < s.Backlog {
			t.Fatalf("%s: %d requests came, %d were served, %d late: %+v", s.Name, load, served, s.Late, s)
		}
		var held capcli.Seconds
		for _, x := range s.Replicas {
			end := x.Ended
			if end < 0 {
				end = r.Ended
			}
			if x.Held >= 0 {
				held += end - x.Held
			}
			if x.Held >= 0 && x.Held < x.Ordered || x.Ready >= 0 && x.Ready < x.Held || x.Ended >= 0 && x.Ended < x.Ordered || x.Down >= 0 && x.Ended != x.Down {
				t.Fatalf("%s: a replica %+v", s.Name, x)
			}
		}
		if want := capcli.GPUTime(list[i].Milli() * int64(held)); s.Held != want {
			t.Fatalf("%s: replicas held %d, and the accounts say %d", s.Name, want, s.Held)
		}
	}
}
