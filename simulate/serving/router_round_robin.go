package serving

func init() {
	Routers.Add("round_robin", "each ready replica in turn", func(*Config) Router { return &roundRobin{-1} })
}

// roundRobin takes the ready replica with the least index above the last one taken, else the least.
type roundRobin struct{ cursor int }

func (r *roundRobin) Route(f *Fleet, _ *Request) int {
	n := f.Len()
	for i := range n {
		if at := (r.cursor + 1 + i) % n; f.IsReady(at) {
			r.cursor = at
			return at
		}
	}
	return -1
}
