package capcli

import (
	"context"
	"iter"
)

// Job is a request for GPUs, from a log or from a generator. It is a gang: it holds all
// of its GPUs at once or none.
type Job struct {
	// What a scheduler asks of each waiting job comes first, together in memory.
	GPUs      int    // GPUs wanted; 0 is a CPU job
	GPUMilli  int    // thousandths of one GPU when it shares one (GPUs is 1); 0 is whole GPUs
	CPUMilli  int64  // thousandths of a CPU, all together; 0 is unknown
	MemMiB    int64  // memory in MiB, all together; 0 is unknown
	GPUMemMiB int64  // memory that it takes on each of its GPUs, in MiB; 0 is unknown
	Shape     *Shape // how it may run; nil is as it says: its GPUs, its model, its Run
	Run       Seconds
	Limit     Seconds // time asked for; 0 is unknown

	ID        string
	Tenant    string // who pays: user, team or account
	Partition string // virtual cluster or queue it was sent to; "" is the common one
	GPUModel  string // model wanted, "A100" or "V100|T4" for either; "" is any
	Class     string // kind of work, "training" say; "" is unnamed
	State     string // how the log says it ended, in Slurm's words; "" is unknown
	Submit    Time
	Eligible  Time   // when it could first have been started; NoTime, or a time up to Submit, is as submitted
	Start     Time   // in the log; NoTime when it never started. A simulation ignores it
	End       Time   // in the log; NoTime when it has not ended
	Priority  int    // larger is more urgent
	Deadline  Time   // NoTime is none
	Tags      *Tags  // its project, team and the like; nil is none
	Stage     *Stage // its place in a workflow; nil is none
	Data      *Data  // where its data lies and where it may run; nil is anywhere
	Uses      *Uses  // what it takes of what running jobs share; nil is nothing
}

// Milli returns the GPU capacity that j holds, in thousandths of a GPU.
func (j *Job) Milli() int64 {
	if j.GPUMilli > 0 {
		return int64(j.GPUMilli) * int64(j.GPUs)
	}
	return int64(j.GPUs) * 1000
}

// Work returns j's GPUs times its run time.
func (j *Job) Work() GPUTime { return GPUTime(j.Milli() * int64(j.Run)) }

// QueueTime returns the instant from which j waits: when it became eligible, which is its submission
// unless Eligible is later.
func (j *Job) QueueTime() Time { return max(j.Submit, j.Eligible) }

// Estimate returns the run time that a scheduler assumes: the limit, or the true run
// time when there is no limit.
func (j *Job) Estimate() Seconds {
	if j.Limit > 0 {
		return j.Limit
	}
	return j.Run
}

// Jobs is a stream of jobs in order of submission. It ends at the first error.
type Jobs = iter.Seq2[Job, error]

// StreamJobs returns a list of jobs as a stream.
func StreamJobs(list []Job) Jobs {
	return func(yield func(Job, error) bool) {
		for i := range list {
			if !yield(list[i], nil) {
				return
			}
		}
	}
}

// WatchJobs returns jobs as a stream that ends soon after ctx, with the cause of ctx. Every 1024
// jobs it calls progress with the number of jobs so far.
func WatchJobs(ctx context.Context, jobs Jobs, progress func(n int64)) Jobs {
	return func(yield func(Job, error) bool) {
		var n int64
		for job, err := range jobs {
			if n++; n%1024 == 0 {
				if ctx.Err() != nil {
					yield(Job{}, context.Cause(ctx))
					return
				}
				progress(n)
			}
			if !yield(job, err) {
				return
			}
		}
	}
}
