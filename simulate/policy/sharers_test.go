package policy

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"capcli/simulate"

	"capcli"
)

// slurmNode is an account of the worked example in Slurm's documentation.
type slurmNode struct {
	Shares   float64
	Children map[string]slurmNode
	Users    map[string]float64
}

// tenants gives the paths of the tree with their shares, and each name's path.
func (n slurmNode) tenants(path string, stated map[string]*simulate.Tenant, paths map[string]string) {
	join := func(name string, shares float64) string {
		p := name
		if path != "" {
			p = path + "/" + name
		}
		stated[p], paths[name] = &simulate.Tenant{Name: p, Weight: shares}, p
		return p
	}
	for name, c := range n.Children {
		c.tenants(join(name, c.Shares), stated, paths)
	}
	for name, shares := range n.Users {
		join(name, shares)
	}
}

func TestSlurmFairShare(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "golden", "hpc", "textbook.json"))
	if err != nil {
		t.Skipf("golden answers are not here: %v", err)
	}
	var cases []struct {
		ID     string
		Tree   map[string]slurmNode
		Usage  map[string]float64
		Expect json.RawMessage
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.ID != "slurm-classic-fairshare" {
			continue
		}
		var want struct {
			Effective map[string]float64 `json:"effective_usage"`
			Factor    map[string]float64
			Order     []string
		}
		if err := json.Unmarshal(c.Expect, &want); err != nil {
			t.Fatal(err)
		}
		stated, paths := map[string]*simulate.Tenant{}, map[string]string{}
		slurmNode{Children: c.Tree}.tenants("", stated, paths)
		s := newSharers(7 * capcli.Day)
		for _, p := range paths {
			s.place(p)
		}
		for user, use := range c.Usage {
			s.hold(paths[user], int64(math.Round(use*1e6)), 0)
		}
		s.weigh(func(name string) *simulate.Tenant { return stated[name] })
		const unit = 1000 // a use of 1 is a thousand GPUs here
		for name, w := range want.Effective {
			if use, _ := s.effective(s.place(paths[name]), 0); math.Abs(use/unit-w) > 1e-5 {
				t.Errorf("effective use of %s is %.6f, want %.6f", name, use/unit, w)
			}
		}
		ratio := func(user string) float64 {
			use, share := s.effective(s.place(paths[user]), 0)
			return use / unit / share
		}
		for user, w := range want.Factor {
			if f := math.Exp2(-ratio(user)); math.Abs(f-w) > 1e-5 {
				t.Errorf("factor of %s is %.6f, want %.6f", user, f, w)
			}
		}
		got := slices.Clone(want.Order)
		slices.SortFunc(got, func(a, b string) int { return cmp.Compare(ratio(a), ratio(b)) })
		if !slices.Equal(got, want.Order) {
			t.Errorf("served in order %v, want %v", got, want.Order)
		}
	}
}

// A week after it ended, a use counts for half.
func TestPastUseDecays(t *testing.T) {
	s := newSharers(7 * capcli.Day)
	s.hold("a", 8000, 0)
	s.hold("a", -8000, capcli.Hour)
	at := s.place("a").use(capcli.Hour, s.decay)
	if later := s.place("a").use(capcli.Hour+7*capcli.Day, s.decay); math.Abs(later/at-0.5) > 1e-9 {
		t.Errorf("past use went from %g to %g in a half-life", at, later)
	}
	if want := 8 * 3600 * math.Ln2 / (7 * 86400); math.Abs(at/want-1) > 0.01 {
		t.Errorf("an hour of 8 GPUs counts for %g GPUs, want about %g", at, want)
	}
}
