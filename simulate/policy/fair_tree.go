package policy

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"capcli"
)

// shareTree is the tree of accounts and users of Slurm's fair-share factors. The tenant "lab/ana" is
// the user "lab/ana" of the account "lab"; a tenant without a slash is a user of the root. An
// account and a user may have the same name.
//
// The usage of a user is its GPU time, in which a moment weighs 2^(-age / half-life); that of an
// account is the sum of its users.
type shareTree struct {
	decay    float64 // per second; 0 never forgets
	root     shareNode
	users    map[string]*shareNode
	accounts map[string]*shareNode
	count    int // users
}

// shareNode is a user or an account.
type shareNode struct {
	name     string
	parent   *shareNode
	children []*shareNode // of an account, in order of appearance
	user     bool
	weight   float64 // Slurm's shares
	all      float64 // sum of the children's weights
	usage    float64 // decayed GPU-seconds up to as
	as       capcli.Seconds
	milli    int64   // thousandths of GPUs held since as
	factor   float64 // of a user
}

func newShareTree(halfLife capcli.Seconds) *shareTree {
	t := &shareTree{users: map[string]*shareNode{}, accounts: map[string]*shareNode{}}
	if halfLife > 0 {
		t.decay = math.Ln2 / float64(halfLife)
	}
	return t
}

// add returns the user called name. The first call adds it and its accounts. weightOf returns the
// shares of a tenant.
func (t *shareTree) add(name string, weightOf func(name string) float64) *shareNode {
	if u := t.users[name]; u != nil {
		return u
	}
	u := t.account(name, weightOf).attach(&shareNode{name: name, user: true, weight: weightOf(name)})
	t.users[name] = u
	t.count++
	return u
}

func (t *shareTree) account(name string, weightOf func(name string) float64) *shareNode {
	i := strings.LastIndexByte(name, '/')
	if i <= 0 {
		return &t.root
	}
	name = name[:i]
	a := t.accounts[name]
	if a == nil {
		a = t.account(name, weightOf).attach(&shareNode{name: name, weight: weightOf(name)})
		t.accounts[name] = a
	}
	return a
}

func (n *shareNode) attach(child *shareNode) *shareNode {
	child.parent = n
	n.children = append(n.children, child)
	n.all += child.weight
	return child
}

// hold adds milli thousandths of GPUs to what a user and its accounts hold.
func (t *shareTree) hold(u *shareNode, milli int64, now capcli.Seconds) {
	for n := u; n != nil; n = n.parent {
		n.accrue(now, t.decay)
		n.milli += milli
	}
}

// accrue brings the usage up to now.
func (n *shareNode) accrue(now capcli.Seconds, decay float64) {
	dt := float64(now - n.as)
	if dt <= 0 {
		return
	}
	held := float64(n.milli) / 1000
	if decay == 0 {
		n.usage += held * dt
	} else {
		keep := math.Exp(-decay * dt)
		n.usage = n.usage*keep + held*(1-keep)/decay
	}
	n.as = now
}

// accrueAll brings all usage up to now.
func (t *shareTree) accrueAll(n *shareNode, now capcli.Seconds) {
	n.accrue(now, t.decay)
	for _, c := range n.children {
		t.accrueAll(c, now)
	}
}

// classic sets the factors of the users to
//
//	2^(-U / S / dampening)
//
// where S is the product of the shares from the root down, each over those of the siblings, and U
// the effective usage: of a child of the root its usage over all usage, and below
//
//	U = own + (U of the parent - own) * shares / shares of all siblings
//
// (Slurm, "Classic Fairshare Algorithm").
func (t *shareTree) classic(now capcli.Seconds, dampening float64) {
	t.accrueAll(&t.root, now)
	t.classicBelow(&t.root, 0, 1, dampening)
}

func (t *shareTree) classicBelow(n *shareNode, above, share, dampening float64) {
	for _, c := range n.children {
		part := c.weight / n.all
		own := 0.0
		if t.root.usage > 0 {
			own = c.usage / t.root.usage
		}
		effective := own
		if n != &t.root {
			effective = own + (above-own)*part
		}
		if c.user {
			c.factor = math.Exp2(-effective / (share * part) / dampening)
		} else {
			t.classicBelow(c, effective, share*part, dampening)
		}
	}
}

// fairTree sets the factors of the users to rank / number of users, where the first user has the
// rank of their number. Accounts and users with a parent in common are visited in order of their
// level fairshare
//
//	LF = (shares / shares of all siblings) / (usage / usage of all siblings)
//
// the largest first, and each account with all below it before the next. Users with the same LF
// have the same rank. Accounts with the same LF are visited as one, with the children of all of
// them; a user goes before an account with the same LF (Slurm, "Fair Tree Fairshare Algorithm", of
// Cox and Morrison).
func (t *shareTree) fairTree(now capcli.Seconds) {
	t.accrueAll(&t.root, now)
	rank := t.count
	t.rankBelow([]*shareNode{&t.root}, &rank)
}

// ranked is a child of accounts that tie, with its level fairshare.
type ranked struct {
	*shareNode
	level float64
}

// levels returns the children of accounts that tie in the order in which they are visited.
func levels(accounts []*shareNode) (all []ranked) {
	for _, a := range accounts {
		var used float64
		for _, c := range a.children {
			used += c.usage
		}
		for _, c := range a.children {
			level := math.Inf(1)
			if c.usage > 0 {
				level = (c.weight / a.all) / (c.usage / used)
			}
			all = append(all, ranked{c, level})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		switch {
		case a.level != b.level:
			return cmp.Compare(b.level, a.level)
		case a.user != b.user && a.user:
			return -1
		case a.user != b.user:
			return 1
		}
		return cmp.Compare(a.name, b.name)
	})
	return all
}

// rankBelow ranks the users below accounts that tie.
func (t *shareTree) rankBelow(accounts []*shareNode, rank *int) {
	all := levels(accounts)
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && all[k].level == all[i].level && all[k].user == all[i].user {
			k++
		}
		if all[i].user {
			for _, c := range all[i:k] {
				c.factor = float64(*rank) / float64(t.count)
			}
			*rank -= k - i
		} else {
			var tied []*shareNode
			for _, c := range all[i:k] {
				tied = append(tied, c.shareNode)
			}
			t.rankBelow(tied, rank)
		}
		i = k
	}
}
