package serving

import "cmp"

func init() {
	Routers.Add("prefix_aware", "the replica that had the prefix last, unless it is loaded beyond a factor of the mean", func(c *Config) Router {
		return &prefixAware{bound: cmp.Or(c.Bound, UsualBound), home: map[int64]int{}}
	})
}

// UsualBound is the most load of a replica under prefix_aware, in thousandths of the mean, where a
// configuration has none.
const UsualBound = 1250

// prefixAware sends requests with the same prefix to the same replica, whose cache has it, while the
// replica has at most a factor of the mean number of requests; otherwise to the least loaded one, which is
// then the prefix's (hashing with bounded loads: Mirrokni, Thorup and Zadimoghaddam, "Consistent Hashing
// with Bounded Loads", SODA 2018). Requests without a prefix go to the least loaded.
type prefixAware struct {
	bound int64
	home  map[int64]int
}

func (p *prefixAware) Route(f *Fleet, r *Request) int {
	least, total, n := -1, int64(0), int64(0)
	for i := range f.Len() {
		if !f.IsReady(i) {
			continue
		}
		total += f.Load(i)
		n++
		if least < 0 || f.Load(i) < f.Load(least) {
			least = i
		}
	}
	if r.Prefix == 0 {
		return least
	}
	if at, ok := p.home[r.Prefix]; ok && f.IsReady(at) && (f.Load(at)+1)*n*1000 <= p.bound*(total+1)+1000*n-1 {
		return at
	}
	p.home[r.Prefix] = least
	return least
}
