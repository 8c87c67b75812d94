package simulate_test

import (
	"maps"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/policy"

	"pgregory.net/rapid"
)

// drawRules draws caps and budgets of tenants, all of them at once or none.
func drawRules(t *rapid.T, w *world) {
	w.guard = capcli.Seconds(rapid.SampledFrom([]int{0, 1, 40}).Draw(t, "guard"))
	w.set.Own = map[string]capcli.Seconds{
		"aging": capcli.Seconds(rapid.SampledFrom([]int{0, 7}).Draw(t, "aging")), "small_run": capcli.Seconds(rapid.SampledFrom([]int{0, 20}).Draw(t, "small")),
	}
	for _, word := range []string{"promise", "leftover"} {
		w.set.Choices[word] = rapid.SampledFrom([]string{"true", "false", "all", "nobody"}).Draw(t, word)
	}
	if rapid.Bool().Draw(t, "classes") {
		w.classes = []simulate.PriorityClass{
			{Name: "b", Value: 2, Tenants: []string{"b"}, Caps: drawCaps(t, "class b"), EachTenant: drawCaps(t, "each of class b"), NeverPreempts: rapid.Bool().Draw(t, "never preempts")}, {Name: "x", Value: 1, Partitions: []string{"x"}, Preempts: []string{"b"}},
		}
	}
	w.set.Rules = drawSlurm(t)
	if !rapid.Bool().Draw(t, "caps") {
		return
	}
	w.each = drawCaps(t, "each")
	w.tenants[0].Caps = drawCaps(t, "a")
	w.tenants[0].Budget = drawBudget(t, w, "a")
	w.tenants = append(w.tenants, simulate.Tenant{Name: "b", Caps: drawCaps(t, "b"), Budget: drawBudget(t, w, "b")})
}

// drawSlurm draws settings of the policy slurm.
func drawSlurm(t *rapid.T) *policy.Slurm {
	if rapid.Bool().Draw(t, "slurm as it is") {
		return nil
	}
	weight := rapid.SampledFrom([]float64{0, 1, 1000})
	return &policy.Slurm{
		Weights: policy.SlurmWeights{
			Age: weight.Draw(t, "age"), FairShare: weight.Draw(t, "fair share"), JobSize: weight.Draw(t, "size"), Partition: weight.Draw(t, "of partition"),
			QOS: weight.Draw(t, "qos"), GPU: weight.Draw(t, "gpu"), Job: weight.Draw(t, "job"),
		},
		MaxAge: 20, HalfLife: capcli.Seconds(rapid.SampledFrom([]int{0, 30}).Draw(t, "half")), CalcPeriod: capcli.Seconds(rapid.IntRange(1, 20).Draw(t, "period")),
		Classic: rapid.Bool().Draw(t, "classic"), Dampening: 1, FavorSmall: rapid.Bool().Draw(t, "small first"), Builtin: rapid.Bool().Draw(t, "builtin"),
		Partitions: []policy.SlurmPartition{{Name: "x", Tier: 2, Factor: 5, MaxTime: capcli.Seconds(rapid.SampledFrom([]int{0, 50}).Draw(t, "max time"))}},
		Preempt: policy.SlurmPreempt{
			By: rapid.SampledFrom([]string{"", "partition", "qos"}).Draw(t, "preempt by"), Cancel: rapid.Bool().Draw(t, "cancel"),
			Exempt: capcli.Seconds(rapid.SampledFrom([]int{0, 10}).Draw(t, "exempt")),
		},
	}
}

// withoutRules takes the caps, budgets and the guard from a world, for tests that hold for worlds
// without them. It then begins at 0.
func (w *world) withoutRules() {
	for i := range w.jobs {
		w.jobs[i].Submit -= w.base
		if w.jobs[i].Deadline.IsKnown() {
			w.jobs[i].Deadline -= w.base
		}
	}
	w.each, w.guard, w.base, w.classes = simulate.Caps{}, 0, 0, nil
	for i := range w.tenants {
		w.tenants[i].Caps, w.tenants[i].Budget = simulate.Caps{}, nil
	}
}

// withoutAhead takes caps and promises of GPU time to come from a world: they count run times without the
// slowdown that only the place of a job decides.
func (w *world) withoutAhead() {
	w.each.GPUTime = 0
	for i := range w.classes {
		w.classes[i].Caps.GPUTime, w.classes[i].EachTenant.GPUTime = 0, 0
	}
	for i := range w.tenants {
		t := &w.tenants[i]
		if t.Caps.GPUTime = 0; t.Budget != nil {
			b := *t.Budget
			b.Reserve = false
			t.Budget = &b
		}
	}
}

func drawCaps(t *rapid.T, who string) simulate.Caps {
	pick := func(what string, of ...int) int { return rapid.SampledFrom(of).Draw(t, what+" of "+who) }
	return simulate.Caps{
		RunningJobs: pick("running", 0, 1, 2), GPUs: pick("gpus", 0, 0, 3, 12), PendingJobs: pick("pending", 0, 1, 3),
		GPUTime: capcli.GPUTime(pick("gpu time", 0, 100, 1000)) * capcli.GPUSecond,
		Hoard:   simulate.Hoard{GPUs: pick("hoard", 0, 2), For: capcli.Seconds(pick("hoard for", 0, 0, 15))},
	}
}

func drawBudget(t *rapid.T, w *world, who string) *simulate.Budget {
	amount := rapid.SampledFrom([]int{0, 0, 300, 2000}).Draw(t, "budget of "+who)
	if amount == 0 {
		return nil
	}
	b := &simulate.Budget{
		GPUTime: capcli.GPUTime(amount) * capcli.GPUSecond, Every: simulate.Daily,
		Then: simulate.WhenSpent(rapid.IntRange(0, 3).Draw(t, "then of "+who)), Approval: capcli.Seconds(rapid.IntRange(0, 500).Draw(t, "approval of "+who)),
		Reserve: rapid.Bool().Draw(t, "reserve of "+who),
	}
	if b.Then == simulate.StopJobs && w.restart.Mode != simulate.Suspend {
		b.Then = simulate.WaitForPeriod // a job that is stopped each day and keeps nothing would never end
	}
	if rapid.Bool().Draw(t, "money of "+who) {
		b.Money, b.GPUTime = capcli.USD(b.GPUTime), 0
	}
	return b
}

// evenCharges makes a thousandth of a GPU-second cost a millionth of a dollar: a budget of money then
// holds as much as one of GPU time with the same number.
func evenCharges(int, capcli.Time) capcli.Rate { return 3_600_000 }

// limit returns the amount of a budget in GPU time, at evenCharges.
func (b *book) limit() capcli.GPUTime { return b.budget.GPUTime + capcli.GPUTime(b.budget.Money) }

// ruleBook audits caps and budgets on books of its own.
type ruleBook struct {
	a       *auditor
	w       *world
	books   map[string]*book
	classes map[string]*book // by class, and by class and tenant
	since   capcli.Seconds
}

// book is what the jobs of a tenant and of those below it hold.
type book struct {
	caps    simulate.Caps
	budget  *simulate.Budget
	running map[*simulate.Live]bool // whether on spot
	above   capcli.Seconds          // since when it holds many GPUs; -1 when it does not
	spent   capcli.GPUTime
	day     capcli.Time
}

func newRuleBook(a *auditor, w *world) *ruleBook {
	r := &ruleBook{a: a, w: w, books: map[string]*book{}, classes: map[string]*book{}}
	stated := map[string]bool{}
	for i := range w.tenants {
		if t := &w.tenants[i]; t.Caps != (simulate.Caps{}) || t.Budget != nil {
			r.books[t.Name], stated[t.Name] = &book{caps: t.Caps, budget: t.Budget, running: map[*simulate.Live]bool{}, above: -1, day: w.base / 86400}, true
		}
	}
	for _, name := range []string{"a", "b", "b/c"} {
		if !stated[name] {
			r.books[name] = &book{caps: w.each, running: map[*simulate.Live]bool{}, above: -1}
		}
	}
	return r
}

// booksOf returns the books in which a job of a tenant counts. Each tenant's own caps count for itself
// alone where they are stated for none.
func (r *ruleBook) booksOf(tenant string) (out []*book) {
	for _, name := range slices.Sorted(maps.Keys(r.books)) {
		own := slices.ContainsFunc(r.w.tenants, func(t simulate.Tenant) bool {
			return t.Name == name && (t.Caps != (simulate.Caps{}) || t.Budget != nil)
		})
		if name == tenant || own && strings.HasPrefix(tenant, name+"/") {
			out = append(out, r.books[name])
		}
	}
	return out
}

// allBooks returns the books in which a job counts: those of its tenant and of its class.
func (r *ruleBook) allBooks(l *simulate.Live) []*book {
	out := r.booksOf(l.Tenant)
	c, _ := l.PriorityClass()
	if c == nil {
		return out
	}
	for key, caps := range map[string]simulate.Caps{c.Name: c.Caps, c.Name + " of " + l.Tenant: c.EachTenant} {
		if r.classes[key] == nil {
			r.classes[key] = &book{caps: caps, running: map[*simulate.Live]bool{}, above: -1}
		}
		out = append(out, r.classes[key])
	}
	return out
}

func (b *book) gpus() (n int, milli int64) {
	for l, spot := range b.running {
		if n += l.GPUs; !spot {
			milli += l.Milli()
		}
	}
	return n, milli
}

func (b *book) ahead(now capcli.Seconds) (sum capcli.GPUTime) {
	for l := range b.running {
		sum += capcli.GPUTime(int64(l.LeftBelieved(now)) * l.Milli())
	}
	return sum
}

// pass brings the spent budgets up to a time.
func (r *ruleBook) pass(now capcli.Seconds) {
	for _, b := range r.books {
		if b.budget == nil {
			continue
		}
		_, milli := b.gpus()
		for at := r.since; at < now; {
			day := (r.w.base + capcli.Time(at)) / 86400
			if day != b.day {
				b.day, b.spent = day, 0
			}
			end := min(now, capcli.Seconds((day+1)*86400-r.w.base))
			b.spent += capcli.GPUTime(milli * int64(end-at))
			if b.budget.Then == simulate.StopJobs && b.spent >= b.limit()+capcli.GPUTime(milli)+1 {
				r.a.failf("the budget of %d is passed: %d", b.limit(), b.spent)
			}
			at = end
		}
		if day := (r.w.base + capcli.Time(now)) / 86400; day != b.day {
			b.day, b.spent = day, 0
		}
	}
	r.since = now
}

func (r *ruleBook) Observe(e simulate.Event, c *simulate.Cluster) {
	r.pass(e.At)
	if e.Job == nil {
		return
	}
	switch e.Kind {
	case simulate.Start:
		spot := c.Pool(e.Job.Pool()).Terms == simulate.Spot
		for _, b := range r.allBooks(e.Job) {
			r.start(b, e, spot)
		}
	case simulate.Finish, simulate.Preempt:
		for _, b := range r.allBooks(e.Job) {
			delete(b.running, e.Job)
			if n, _ := b.gpus(); n <= b.caps.Hoard.GPUs {
				b.above = -1
			}
		}
	default:
	}
}

// start checks that a job may start.
func (r *ruleBook) start(b *book, e simulate.Event, spot bool) {
	l, c := e.Job, &b.caps
	if c.Hoard.For > 0 && b.above >= 0 && e.At-b.above >= c.Hoard.For {
		r.a.failf("%s starts, and its tenant has held over %d GPUs since %d", l.ID, c.Hoard.GPUs, b.above)
	}
	if b.budget != nil && !spot && b.budget.Then != simulate.AskApproval && b.spent >= b.limit() {
		r.a.failf("%s starts, and %d of the budget of %d is spent", l.ID, b.spent, b.limit())
	}
	b.running[l] = spot
	n, _ := b.gpus()
	if c.RunningJobs > 0 && len(b.running) > c.RunningJobs || c.GPUs > 0 && n > c.GPUs || c.GPUTime > 0 && b.ahead(e.At) > c.GPUTime {
		r.a.failf("%s starts, and a cap of %s is passed: %d jobs, %d GPUs, %d ahead; %+v", l.ID, l.Tenant, len(b.running), n, b.ahead(e.At), *c)
	}
	if c.Hoard.For > 0 && n > c.Hoard.GPUs && b.above < 0 {
		b.above = e.At
	}
	if b.budget == nil || spot || !b.budget.Reserve || b.budget.Then == simulate.AskApproval {
		return
	}
	need := b.spent
	for l, spot := range b.running {
		if ends := capcli.Seconds((b.day+1)*86400 - r.w.base); !spot {
			need += capcli.GPUTime(int64(min(l.LeftBelieved(e.At), ends-e.At)) * l.Milli())
		}
	}
	if need > b.limit() {
		r.a.failf("%s starts, and %d of the budget of %d is promised", l.ID, need, b.limit())
	}
}
