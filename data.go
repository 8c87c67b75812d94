package capcli

// Data is where the data of a job lies and where the job may run. Jobs share it, and nothing changes it.
type Data struct {
	Home      string   // place of the data: provider/region/zone, or the first parts of it; "" is everywhere
	GiB       float64  // size of what must be moved to run elsewhere
	BackGiB   float64  // size of the result that must be moved back
	Only      []string // places where the job may run (residency); empty is all
	Not       []string // places where it may not run
	Within    int      // most milliseconds to its users; 0 is any latency
	UsersAt   string   // place of the users; "" is Home
	Shiftable Seconds  // how long its start may be put off for a lower price or less carbon; 0 is not at all
}
