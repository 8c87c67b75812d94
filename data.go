package capcli

import (
	"path"
	"strings"
)

// Data is where the data of a job lies and where the job may run. Jobs share it, and nothing changes it.
//
// A place is provider/region/zone, such as aws/us-east-1/a, or the first parts of it. In lists of places
// a part may be a pattern of path.Match: */eu-*.
type Data struct {
	Name      string   // name of the data set: jobs that use the same one share the copies; "" is data that only the job itself uses
	Home      string   // place of the data; "" is everywhere
	GiB       float64  // size of what must be moved to run elsewhere
	BackGiB   float64  // size of the result that must be moved back
	Only      []string // places where the job may run (residency); empty is all
	Not       []string // places where it may not run
	Within    int      // most milliseconds to its users; 0 is any latency
	UsersAt   string   // place of the users; "" is Home
	Shiftable Seconds  // how long its start may be put off for a lower price or less carbon; 0 is not at all
}

// MiB returns what must be moved to run elsewhere and what must be moved back, in MiB.
func (d *Data) MiB() (there, back int64) {
	return int64(d.GiB*1024 + 0.5), int64(d.BackGiB*1024 + 0.5)
}

// MayRunAt reports whether residency allows the job at a place. Where a place is "", it is not known, and
// a job that states Only or Not may not run there.
func (d *Data) MayRunAt(place string) bool {
	if len(d.Only) == 0 && len(d.Not) == 0 {
		return true
	}
	if place == "" {
		return false
	}
	for _, p := range d.Not {
		if IsWithin(place, p) || IsWithin(p, place) { // a pool whose zone is not stated may be in the zone that is forbidden
			return false
		}
	}
	for _, p := range d.Only {
		if IsWithin(place, p) {
			return true
		}
	}
	return len(d.Only) == 0
}

// IsWithin reports whether a place lies in another: aws/us-east-1/a lies in aws/us-east-1, in aws and in "",
// and also in */us-*.
func IsWithin(place, in string) bool {
	if in == "" {
		return true
	}
	for {
		want, more, goesOn := strings.Cut(in, "/")
		have, rest, _ := strings.Cut(place, "/")
		if ok, err := path.Match(want, have); err != nil || !ok || have == "" {
			return false
		}
		if !goesOn {
			return true
		}
		in, place = more, rest
	}
}

// RegionOf returns provider/region of a place, or what it states of it.
func RegionOf(place string) string {
	parts := strings.SplitN(place, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}
