package capcli

// Stage places a job in a workflow: what it waits for, and what follows if it fails. Jobs without
// dependencies have none.
type Stage struct {
	Workflow  string    // names the workflow, or one run of it; "" is none
	Of        string    // the workflow of which Workflow is one run; "" is itself
	Name      string    // stage within the workflow, such as fine-tune; jobs of one stage share it
	After     []After   // what must happen before it may start
	One       bool      // one of After is enough; else all are needed
	Fails     bool      // the job ends in failure after its run time, at every try
	FailTries int       // tries that end in failure before one ends well; without Fails
	Retries   int       // times that it is tried again when it fails
	Tail      Seconds   // longest path from its start to an end of the workflow, its own run included; 0 is not known
	Sweep     *Sweep    // the sweep that it is a trial of; nil is none
	Scores    []float64 // of a trial: its loss at each rung of its sweep, the smaller the better
}

// After is one dependency.
type After struct {
	ID    string
	When  AfterWhen
	Delay Seconds // time that must pass after that, such as a think time
}

// AfterWhen is the end for which a job waits. The words are those of Slurm's --dependency.
type AfterWhen uint8

// The kinds of dependency. A job that was cancelled has started and ended, and not well.
const (
	AfterOK    AfterWhen = iota // it ended well; else the job is cancelled
	AfterAny                    // it ended, well or not
	AfterNotOK                  // it failed; else the job is cancelled
	AfterStart                  // it started
	AfterSome                   // it ended, and it or another that the job waits for in this way ended well; else the job is cancelled
)

// Sweep is a search over hyper-parameters, whose trials are jobs. Trials share it, and nothing changes
// it once it is made.
type Sweep struct {
	Name        string
	MaxParallel int       // most trials that are submitted and have not ended; 0 is any number
	Stop        SweepStop // when a trial that does badly is ended early
	Rungs       []float64 // shares of a trial's run time at which its loss is compared, growing, below 1
	Keep        int       // StopHalving: one of so many goes on at each rung, at least 2
	Grace       int       // StopMedian: losses that must be there before one is judged
}

// SweepStop is the rule that ends trials early.
type SweepStop uint8

// The rules. Both compare a trial with the losses that others reported before it, so nothing waits.
const (
	StopNever   SweepStop = iota
	StopHalving           // asynchronous successive halving: at each rung the best share 1/Keep goes on
	StopMedian            // a trial ends if its best loss is worse than the median of the others' means
)
