package serving

import "capcli"

// Router sends each request to a ready replica. To add one, write a file whose init adds a function that
// makes it to Routers.
type Router interface {
	// Route returns the index of a ready replica for request r; the fleet has at least one.
	Route(f *Fleet, r *Request) int
}

// Routers holds the routers by name.
var Routers = capcli.Catalog[func(*Config) Router]{Kind: "router"}

// Fleet is what a Router sees of the replicas at the instant of a request.
type Fleet struct {
	servers []server
	now     int64
}

// Len returns the number of replicas, ready or not.
func (f *Fleet) Len() int { return len(f.servers) }

// IsReady reports whether replica i takes requests.
func (f *Fleet) IsReady(i int) bool {
	s := &f.servers[i]
	return s.isReady && !s.isDrained && !s.isDown
}

// Load returns the requests that wait or run on replica i.
func (f *Fleet) Load(i int) int64 {
	s := &f.servers[i]
	s.advance(f.now)
	return s.waiting + s.running
}
