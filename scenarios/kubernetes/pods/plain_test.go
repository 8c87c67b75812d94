package pods_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/kubernetes/pods"
)

// plainPod is a pod in the rules written plainly.
type plainPod struct {
	owner, index   int
	created, start int
	serial         int
	node, reserved int // -1 is none
	gone           int // when its grace is over; -1: it does not leave
}

// plain plays a world second by second, with nothing but the documented rules and lists. It looks at every subset of
// the pods that may be preempted.
type plain struct {
	w                               *pods.World
	live                            []*plainPod // created and not gone
	had                             []map[int]bool
	succeeded, fails, streak, tries []int
	notBefore                       []int
	over                            []bool
	serial                          int
	log                             []string
}

func (x *plain) tell(p *plainPod, end int, how string) {
	x.log = append(x.log, fmt.Sprintf("%s/%d@%s %d-%d%s", x.w.Owners[p.owner].ID, p.index, x.w.Nodes[p.node].Labels["kubernetes.io/hostname"], p.start, end, how))
}

func (x *plain) remove(p *plainPod) {
	x.live = slices.DeleteFunc(x.live, func(q *plainPod) bool { return q == p })
}

// leave ends a pod that was preempted.
func (x *plain) leave(p *plainPod, t int) {
	o := &x.w.Owners[p.owner]
	x.tell(p, t, "!")
	x.remove(p)
	if x.over[p.owner] {
		return
	}
	switch o.Kind {
	case pods.Pod:
		x.over[p.owner] = true
	case pods.Job:
		delete(x.had[p.owner], p.index)
		x.fails[p.owner]++
		x.streak[p.owner]++
		if x.fails[p.owner] > int(o.Failures) {
			x.over[p.owner] = true
			for _, q := range slices.Clone(x.live) {
				if q.owner == p.owner && q.gone < 0 {
					if q.node >= 0 {
						x.tell(q, t, "x")
					}
					x.remove(q)
				}
			}
			return
		}
		x.notBefore[p.owner] = max(x.notBefore[p.owner], t+min(360, 10<<(x.streak[p.owner]-1)))
	case pods.Deployment:
		delete(x.had[p.owner], p.index)
	}
}

// room is what is free on a node for a pod, without those of a set.
func (x *plain) room(n int, p *plainPod, without map[*plainPod]bool) bool {
	free := maps.Clone(x.w.Nodes[n].Capacity)
	mine := &x.w.Owners[p.owner]
	for _, q := range x.live {
		o := &x.w.Owners[q.owner]
		if q.node == n && !without[q] || q.node < 0 && q.reserved == n && q != p && o.Priority >= mine.Priority {
			for r, v := range o.Pod.Requests {
				free[r] -= v
			}
		}
	}
	for r, v := range mine.Pod.Requests {
		if v > 0 && free[r] < v {
			return false
		}
	}
	return kueue.MayRun(&x.w.Nodes[n], &mine.Pod)
}

// cheapest returns the victims on a node: of all subsets of the pods of lower priority without which p has room the one
// that spares the most important, then the next, and so on.
func (x *plain) cheapest(n int, p *plainPod) []*plainPod {
	var lower []*plainPod
	for _, q := range x.live {
		if q.node == n && x.w.Owners[q.owner].Priority < x.w.Owners[p.owner].Priority {
			lower = append(lower, q)
		}
	}
	slices.SortFunc(lower, func(a, b *plainPod) int { // the least important first
		return slices.Compare([]int{int(x.w.Owners[a.owner].Priority), -a.start, -a.serial}, []int{int(x.w.Owners[b.owner].Priority), -b.start, -b.serial})
	})
	for mask := range 1 << len(lower) {
		set := map[*plainPod]bool{}
		var list []*plainPod
		for i, q := range lower {
			if mask>>i&1 == 1 {
				set[q] = true
				list = append(list, q)
			}
		}
		if x.room(n, p, set) {
			return list
		}
	}
	return nil
}

// second does all that happens in a second.
func (x *plain) second(t int) {
	for _, p := range slices.Clone(x.live) { // what ends
		o := &x.w.Owners[p.owner]
		switch {
		case !slices.Contains(x.live, p) || p.node < 0:
		case o.Kind != pods.Deployment && p.start+int(o.Duration) == t:
			x.tell(p, t, "")
			x.remove(p)
			x.succeeded[p.owner]++
			x.streak[p.owner] = 0
			if o.Kind == pods.Pod || x.succeeded[p.owner] == int(o.Completions) {
				x.over[p.owner] = true
			}
		}
	}
	for _, p := range slices.Clone(x.live) {
		if p.gone == t && slices.Contains(x.live, p) {
			x.leave(p, t)
		}
	}
	for again := true; again; {
		for i := range x.w.Owners {
			x.control(i, t)
		}
		again = x.schedule(t)
	}
}

func (x *plain) control(i, t int) {
	o := &x.w.Owners[i]
	for t >= int(o.Arrival) && t >= x.notBefore[i] && !x.over[i] {
		active, want := 0, int(o.Parallelism)
		for _, p := range x.live {
			if p.owner == i {
				active++
			}
		}
		if o.Kind == pods.Job {
			want = min(want, int(o.Completions)-x.succeeded[i])
		}
		if active >= want {
			return
		}
		for _, q := range x.w.Quotas {
			for r, hard := range q.Hard {
				used, asks := int64(0), o.Pod.Requests[r]
				if r == pods.PodCount {
					asks = 1
				}
				for _, p := range x.live {
					if r == pods.PodCount {
						used++
					} else {
						used += x.w.Owners[p.owner].Pod.Requests[r]
					}
				}
				if used+asks > hard {
					if asks > hard {
						x.notBefore[i] = 1 << 40
						return
					}
					x.tries[i]++
					x.notBefore[i] = t + min(360, 10<<(x.tries[i]-1))
					return
				}
			}
		}
		x.tries[i] = 0
		k := 0
		for x.had[i][k] {
			k++
		}
		x.had[i][k] = true
		x.serial++
		x.live = append(x.live, &plainPod{owner: i, index: k, created: t, serial: x.serial, node: -1, reserved: -1, gone: -1})
	}
}

// schedule tries all waiting pods in order until none can be placed. It reports whether pods went away at once.
func (x *plain) schedule(t int) bool {
	waits := map[*plainPod]bool{} // for victims
	for placed := true; placed; {
		placed = false
		list := slices.DeleteFunc(slices.Clone(x.live), func(p *plainPod) bool { return p.node >= 0 || waits[p] })
		slices.SortFunc(list, func(a, b *plainPod) int {
			return slices.Compare([]int{-int(x.w.Owners[a.owner].Priority), a.created, a.serial}, []int{-int(x.w.Owners[b.owner].Priority), b.created, b.serial})
		})
		for _, p := range list {
			if p.reserved >= 0 && x.room(p.reserved, p, nil) {
				p.node = p.reserved
			}
			for n := 0; n < len(x.w.Nodes) && p.node < 0; n++ {
				if x.room(n, p, nil) {
					p.node = n
				}
			}
			if p.node >= 0 {
				if p.reserved >= 0 && p.reserved != p.node { // others may have the room that was reserved for it
					clear(waits)
				}
				p.start, p.reserved, placed = t, -1, true
				break // the first in order is tried next
			}
			if slices.ContainsFunc(x.live, func(q *plainPod) bool {
				return p.reserved >= 0 && q.node == p.reserved && q.gone >= 0 && x.w.Owners[q.owner].Priority < x.w.Owners[p.owner].Priority
			}) {
				waits[p] = true
				continue
			}
			had := p.reserved >= 0
			p.reserved = -1
			if x.preempt(p, t, waits) {
				if x.w.EvictTime == 0 {
					return true
				}
				if had {
					clear(waits)
				}
				waits[p], placed = true, true
				break
			}
			if had {
				clear(waits)
				placed = true
				break
			}
		}
	}
	return false
}

func (x *plain) preempt(p *plainPod, t int, waits map[*plainPod]bool) bool {
	if x.w.Owners[p.owner].Never {
		return false
	}
	best, least := -1, []int(nil)
	var victims []*plainPod
	for n := range x.w.Nodes {
		list := x.cheapest(n, p)
		if len(list) == 0 {
			continue
		}
		highest, sum, earliest := -1<<40, 0, 0
		for _, q := range list {
			v := int(x.w.Owners[q.owner].Priority)
			if sum += v; v > highest || v == highest && q.start < earliest {
				highest, earliest = v, q.start
			}
		}
		if key := []int{highest, sum, len(list), -earliest}; best < 0 || slices.Compare(key, least) < 0 {
			best, least, victims = n, key, list
		}
	}
	if best < 0 {
		return false
	}
	for _, q := range x.live {
		if q.reserved == best && x.w.Owners[q.owner].Priority < x.w.Owners[p.owner].Priority {
			q.reserved = -1
			clear(waits)
		}
	}
	p.reserved = best
	victims = slices.DeleteFunc(victims, func(q *plainPod) bool { return q.gone >= 0 })
	for _, q := range victims { // all are told at once
		q.gone = t + int(x.w.EvictTime)
	}
	for _, q := range victims {
		if x.w.EvictTime == 0 {
			x.leave(q, t)
		}
	}
	return true
}

// TestPlain: drawn worlds come out as the rules written plainly have them, stay by stay.
func TestPlain(t *testing.T) {
	preempted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &pods.World{EvictTime: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 7, 30}).Draw(t, "evict"))}
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			w.Nodes = append(w.Nodes, host(fmt.Sprint("n", i), int64(rapid.IntRange(3, 6).Draw(t, "gpus"))))
			if rapid.IntRange(0, 4).Draw(t, "taint") == 4 {
				w.Nodes[i].Taints = []kueue.Taint{{Key: "old", Effect: "NoSchedule"}}
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "quota") == 3 {
			w.Quotas = []pods.Quota{{Namespace: "a", Name: "q", Hard: map[string]int64{gpu: int64(rapid.IntRange(1, 10).Draw(t, "hard")), pods.PodCount: int64(rapid.IntRange(1, 6).Draw(t, "pods"))}}}
		}
		kinds := []pods.Kind{pods.Job, pods.Job, pods.Job, pods.Deployment, pods.Pod}
		arrival := 0
		for i := range rapid.IntRange(4, 8).Draw(t, "owners") {
			arrival += rapid.IntRange(0, 9).Draw(t, "later")
			o := job(fmt.Sprint("o", i), capcli.Seconds(arrival), capcli.Seconds(rapid.IntRange(10, 40).Draw(t, "duration")), int64(rapid.IntRange(1, 3).Draw(t, "each")),
				int64(rapid.IntRange(1, 3).Draw(t, "parallelism")), int64(rapid.IntRange(1, 4).Draw(t, "completions")))
			o.Kind = rapid.SampledFrom(kinds).Draw(t, "kind")
			if o.Kind == pods.Pod {
				o.Parallelism, o.Completions = 1, 1
			}
			o.Priority, o.Never = int64(rapid.IntRange(-1, 4).Draw(t, "priority")), rapid.IntRange(0, 3).Draw(t, "never") == 3
			o.Failures = int64(rapid.IntRange(0, 3).Draw(t, "failures"))
			if rapid.Bool().Draw(t, "tolerates") {
				o.Pod.Tolerations = []kueue.Toleration{{Key: "old", Exists: true}}
			}
			w.Owners = append(w.Owners, o)
		}
		got, err := pods.Run(context.Background(), w, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(w.Owners)
		x := &plain{w: w, had: make([]map[int]bool, n), succeeded: make([]int, n), fails: make([]int, n), streak: make([]int, n), tries: make([]int, n), notBefore: make([]int, n), over: make([]bool, n)}
		for i := range x.had {
			x.had[i] = map[int]bool{}
		}
		for t := 0; t <= int(got.Ended); t++ {
			x.second(t)
		}
		for _, p := range x.live {
			if p.node >= 0 {
				x.log = append(x.log, fmt.Sprintf("%s/%d@%s %d+", w.Owners[p.owner].ID, p.index, w.Nodes[p.node].Labels["kubernetes.io/hostname"], p.start))
			}
		}
		slices.Sort(x.log)
		told := listOf(w, got)
		if !slices.Equal(told, x.log) {
			t.Fatalf("got\n%v\nwant\n%v", told, x.log)
		}
		for i := range got.Owners {
			preempted += got.Owners[i].Preempted
			refused += got.Owners[i].Refused
		}
	})
	if t.Logf("%d preemptions, %d refusals", preempted, refused); preempted < 20 || refused < 20 {
		t.Error("the worlds hardly preempt or refuse")
	}
}

func listOf(w *pods.World, r *pods.Result) []string {
	out := []string{}
	for i := range r.Owners {
		for k, p := range r.Owners[i].Pods {
			for _, s := range p.Starts {
				how := map[pods.Ended]string{pods.Preempted: "!", pods.Killed: "x"}[s.Ended]
				text := fmt.Sprintf("%s/%d@%s %d-%d%s", w.Owners[i].ID, k, w.Nodes[s.Node].Labels["kubernetes.io/hostname"], s.From, s.To, how)
				if s.To < 0 {
					text = fmt.Sprintf("%s/%d@%s %d+", w.Owners[i].ID, k, w.Nodes[s.Node].Labels["kubernetes.io/hostname"], s.From)
				}
				out = append(out, text)
			}
		}
	}
	slices.Sort(out)
	return out
}
