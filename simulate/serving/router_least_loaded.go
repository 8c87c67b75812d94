package serving

func init() {
	Routers.Add("least_loaded", "the ready replica with the fewest requests", func(*Config) Router { return leastLoaded{} })
}

// leastLoaded takes the ready replica with the fewest requests that wait or run, the least index of equals.
type leastLoaded struct{}

func (leastLoaded) Route(f *Fleet, _ *Request) int {
	best, at := int64(never), -1
	for i := range f.Len() {
		if !f.IsReady(i) {
			continue
		}
		if n := f.Load(i); n < best {
			best, at = n, i
		}
	}
	return at
}
