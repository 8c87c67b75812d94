package policy

import (
	"math"
	"testing"

	"capcli/simulate"

	"capcli"
)

// usedTree makes a tree of users that held one GPU for so long.
func usedTree(usage map[string]capcli.Seconds, order []string, weights map[string]float64) *shareTree {
	t := newShareTree(0)
	weight := func(name string) float64 {
		if w := weights[name]; w > 0 {
			return w
		}
		return 1
	}
	for _, name := range order {
		for n := t.add(name, weight); n != nil; n = n.parent {
			n.usage += float64(usage[name])
		}
	}
	return t
}

func checkFactors(t *testing.T, what string, tree *shareTree, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		if got := tree.users[name].factor; math.Abs(got-w) > 1e-9 {
			t.Errorf("%s: factor of %s is %v, want %v", what, name, got, w)
		}
	}
}

// By hand: A has 40 shares and half of the usage, all of it of A/1; B has 60 shares.
//
//	A/1: S = 0.4 * 1/2, U = 1/2 + (1/2 - 1/2) * 1/2     A/2: U = 0 + (1/2 - 0) * 1/2     B/1: S = 0.6, U = 1/2
func TestClassicFairShare(t *testing.T) {
	tree := newShareTree(0)
	weights := map[string]float64{"A": 40, "B": 60}
	weight := func(name string) float64 { return max(1, weights[name]) }
	for _, name := range []string{"A/1", "A/2", "B/1"} {
		tree.add(name, weight)
	}
	tree.hold(tree.users["A/1"], 1000, 0)
	tree.hold(tree.users["B/1"], 1000, 0)
	tree.classic(100, 1)
	checkFactors(t, "classic", tree, map[string]float64{"A/1": math.Exp2(-0.5 / 0.2), "A/2": math.Exp2(-0.25 / 0.2), "B/1": math.Exp2(-0.5 / 0.6)})
	tree.classic(100, 2)
	checkFactors(t, "dampened", tree, map[string]float64{"A/1": math.Exp2(-0.5 / 0.2 / 2)})
}

// By hand: LF of A = (1/2) / (10/30) = 1.5, of B = (1/2) / (20/30) = 0.75; in A the user without usage
// goes first. All users of A are ahead of those of B.
func TestFairTree(t *testing.T) {
	tree := usedTree(map[string]capcli.Seconds{"A/2": 10, "B/1": 20}, []string{"A/1", "A/2", "B/1"}, nil)
	tree.fairTree(0)
	checkFactors(t, "fair tree", tree, map[string]float64{"A/1": 1, "A/2": 2. / 3, "B/1": 1. / 3})

	// Accounts that tie are one: their users are ranked together, and those that tie share a rank.
	tree = usedTree(map[string]capcli.Seconds{"C/1": 10, "D/1": 5, "D/2": 5}, []string{"C/1", "C/2", "D/1", "D/2"}, nil)
	tree.fairTree(0)
	checkFactors(t, "ties", tree, map[string]float64{"C/2": 1, "D/1": 3. / 4, "D/2": 3. / 4, "C/1": 1. / 4})

	// A user goes before an account with the same level.
	tree = usedTree(nil, []string{"E/1", "user"}, nil)
	tree.fairTree(0)
	checkFactors(t, "user first", tree, map[string]float64{"user": 1, "E/1": 1. / 2})

	// Usage is forgotten by half in a half-life: a second of a GPU weighs 2^-1 after it.
	tree = newShareTree(1000)
	u := tree.add("u", func(string) float64 { return 1 })
	tree.hold(u, 1000, 0)
	tree.hold(u, -1000, 1000)
	tree.accrueAll(&tree.root, 2000)
	if want := 1000 / math.Ln2 / 2 / 2; math.Abs(u.usage-want) > 1e-9 {
		t.Errorf("usage is %v, want %v", u.usage, want)
	}
}

// The factors by hand: half of MaxAge waited, a quarter of the GPUs, the partition with half of the
// largest factor, and the job's own priority.
func TestSlurmPriority(t *testing.T) {
	rules := DefaultSlurm()
	rules.Weights = SlurmWeights{Age: 1000, JobSize: 100, Partition: 10, GPU: 8, Job: 1}
	rules.Partitions = []SlurmPartition{{Name: "p", Factor: 3, Tier: 2}, {Name: "q", Factor: 6, Tier: 1}}
	p := Catalog.All()[0].Value
	for _, e := range Catalog.All() {
		if e.Name == "slurm" {
			p = e.Value
		}
	}
	s := p(simulate.Settings{Rules: rules}).(*slurm)
	s.all.total, s.top = [3]float64{8000, 0, 0}, 6
	l := &simulate.Live{Job: capcli.Job{GPUs: 2, Partition: "p", Priority: 5, Tenant: "u"}, Submitted: 100}
	s.tree.add("u", func(string) float64 { return 1 })
	if got, want := s.priority(l, 100+7*capcli.Day/2), 500+25+5+2+5.0; math.Abs(got-want) > 1e-9 {
		t.Errorf("priority is %v, want %v", got, want)
	}
	rules.FavorSmall = true
	if got, want := s.priority(l, 100+8*capcli.Day), 1000+75+5+2+5.0; math.Abs(got-want) > 1e-9 {
		t.Errorf("priority of small jobs first is %v, want %v", got, want)
	}
	if got, want := s.order(l, 100+8*capcli.Day), -(int64(2)<<48)-1_087_000; got != want {
		t.Errorf("key is %d, want %d", got, want)
	}
}
