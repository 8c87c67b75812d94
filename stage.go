package capcli

// Stage places a job in a workflow: what it waits for, and what follows if it fails. Jobs without
// dependencies have none.
type Stage struct {
	Workflow string  // names the workflow; "" is none
	Name     string  // stage within the workflow, such as fine-tune; jobs of one stage share it
	After    []After // jobs that must end before it may start
	Fails    bool    // the job ends in failure after its run time
	Retries  int     // times that it is tried again when it fails
	Tail     Seconds // longest path from its start to an end of the workflow, its own run included; 0 is not known
	Sweep    *Sweep  // the sweep that it is a trial of; nil is none
}

// After is one dependency.
type After struct {
	ID   string
	When AfterWhen
}

// AfterWhen is the end for which a job waits. The words are those of Slurm's --dependency.
type AfterWhen uint8

// The kinds of dependency.
const (
	AfterOK    AfterWhen = iota // it ended well; else the job is cancelled
	AfterAny                    // it ended, well or not
	AfterNotOK                  // it failed; else the job is cancelled
	AfterStart                  // it started
)

// Sweep is a search over hyper-parameters, whose trials are jobs.
type Sweep struct {
	Name        string
	MaxParallel int // most trials that run at once; 0 is any number
}
