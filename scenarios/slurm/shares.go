package slurm

import (
	"cmp"
	"math"
	"slices"
)

// tree takes the tree of accounts and users of a site, whose usage decays. Usage is that of sshare.
func (r *rules) tree(set settings) {
	r.keep, r.classic, r.deep = 1, set.has("priorityflags", "NO_FAIR_TREE"), set.has("priorityflags", "DEPTH_OBLIVIOUS")
	r.damping = float64(max(1, set.int("fairsharedampeningfactor", 1)))
	if half := set.seconds("prioritydecayhalflife", 7*86400); half > 0 {
		r.keep = max(0, 1-0.693/float64(half)) // Slurm's constant, not ln 2
	}
	for _, n := range r.site.byUser {
		if n.User != "" {
			r.users++
		}
		for n.shares = n.Parent; n.shares != nil && n.shares.Parent != nil && n.shares.Shares == parentShares; {
			n.shares = n.shares.Parent
		}
		if n.Shares != parentShares && n.shares != nil {
			n.shares.level += float64(n.Shares)
		}
	}
}

// decay leaves a part of all usage.
func (r *rules) decay(part float64) {
	for _, n := range r.site.byUser {
		n.usage *= part
	}
}

// add adds usage of a user, and of the accounts above.
func (n *assoc) add(usage float64) {
	for ; n != nil; n = n.Parent {
		n.usage += usage
	}
}

// rank computes the factors of all users.
func (r *rules) rank() {
	switch root := r.site.Root; {
	case root == nil:
	case r.classic:
		root.norm, root.effective = 1, 1
		r.rankClassic(root)
	default:
		rank, left := r.users, r.users
		r.rankTree(siblings(root), &rank, &left, false)
	}
}

// siblings returns those that compare at the level below an account: its children, and in place of an
// account with Fairshare=parent the children of that.
func siblings(of *assoc) (out []*assoc) {
	for _, c := range of.Children {
		if c.User == "" && c.Shares == parentShares {
			c.normalise()
			out = append(out, siblings(c)...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// rankTree gives users their ranks by Fair Tree (Cox and Morrison, "Fair Tree fairshare algorithm for
// Slurm"): depth first by
//
//	LevelFS = (shares / shares of the level) / (usage / usage of the level)
//
// A user that ties with the one before has its rank. Accounts that tie are not merged, though that is
// how it is described: the first user of the second has the rank of the last user before.
func (r *rules) rankTree(level []*assoc, rank, left *int, tied bool) {
	for _, n := range level {
		n.normalise()
	}
	slices.SortStableFunc(level, func(a, b *assoc) int {
		return cmp.Or(cmp.Compare(b.levelFS, a.levelFS), -cmp.Compare(min(1, len(a.User)), min(1, len(b.User))))
	})
	var before *assoc
	for _, n := range level {
		ties := tied || before != nil && before.levelFS == n.levelFS
		tied = false
		before = n
		if n.User == "" {
			r.rankTree(siblings(n), rank, left, ties)
			continue
		}
		if !ties {
			*rank = *left
		}
		n.factor = float64(*rank) / float64(r.users)
		*left--
	}
}

// normalise computes the parts of the level that n has of shares and usage.
func (n *assoc) normalise() {
	n.effective, n.levelFS = 0, math.Inf(1)
	if n.shares.usage > 0 {
		n.effective = n.usage / n.shares.usage
	}
	if n.Shares == parentShares {
		n.norm = n.shares.norm
		return
	}
	if n.norm = 0; n.shares.level > 0 {
		n.norm = float64(n.Shares) / n.shares.level
	}
	switch {
	case n.norm == 0:
		n.levelFS = 0
	case n.effective > 0:
		n.levelFS = n.norm / n.effective
	}
}

// rankClassic computes the factors of the classic tree (Slurm, "Classic Fairshare Algorithm") below an
// account:
//
//	effective usage = usage + (effective usage of the account - usage) * shares / shares of the level
//	factor = 2^(-effective usage / normalised shares / dampening)
func (r *rules) rankClassic(of *assoc) {
	for _, n := range of.Children {
		up, share := n.shares, 0.0
		if up.level > 0 {
			share = float64(n.Shares) / up.level
		}
		n.norm = up.norm * share
		usage := 0.0
		if r.site.Root.usage > 0 {
			usage = n.usage / r.site.Root.usage
		}
		switch {
		case n.Shares == parentShares:
			n.norm, n.effective = up.norm, up.effective
		case up == r.site.Root:
			n.effective = usage
		case r.deep:
			n.effective = n.oblivious()
		default:
			n.effective = usage + (up.effective-usage)*share
		}
		if n.factor = 0; n.norm > 0 {
			n.factor = math.Exp2(-n.effective / n.norm / r.damping)
		}
		r.rankClassic(n)
	}
}

// oblivious returns the effective usage with DEPTH_OBLIVIOUS (Slurm, "Depth-Oblivious Fair-share Factor"):
// the ratio of usage to shares is that of the account times the ratio at the level to the power of k.
func (n *assoc) oblivious() float64 {
	up := n.shares
	if up.norm == 0 || up.effective == 0 || n.norm == 0 || up.usage == 0 || up.level == 0 {
		return 0
	}
	ratio := up.effective / up.norm
	here := n.usage / up.usage / (float64(n.Shares) / up.level)
	k := 1.0
	if math.Log(ratio)*math.Log(here) < 0 {
		k = 1 / (1 + math.Pow(5*math.Log(ratio), 2))
	}
	return ratio * math.Pow(here, k) * n.norm
}
