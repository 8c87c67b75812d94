package nvml

import (
	"cmp"

	"capcli"
	"capcli/profile"
)

// people queries the registry on a goroutine of its own, since reading the command line of a
// stuck process may block.
type people struct {
	ask  chan question
	done chan struct{}
	busy bool
	reg  *registry // read it only while not busy
	jobs map[int]string
	q    question
}

type question struct {
	pids []int64
	gpus []int
}

func newPeople(out outside, jobs string) *people {
	p := &people{ask: make(chan question, 1), done: make(chan struct{}, 1), jobs: map[int]string{}}
	go func() {
		for q := range p.ask {
			if p.reg == nil {
				p.reg = newRegistry(out, jobs)
			}
			p.reg.look(q.pids)
			clear(p.jobs)
			for _, gpu := range q.gpus {
				if _, known := p.jobs[gpu]; !known {
					p.jobs[gpu] = p.reg.jobOn(gpu)
				}
			}
			p.done <- struct{}{}
		}
	}()
	return p
}

func (p *people) stop() { close(p.ask) }

// start queries the processes of a tick. It returns false where an earlier query is not answered
// yet.
func (p *people) start(list []profile.Process) bool {
	if p.busy {
		select {
		case <-p.done:
			p.busy = false
		default:
			return false
		}
	}
	p.q.pids, p.q.gpus = p.q.pids[:0], p.q.gpus[:0]
	for i := range list {
		p.q.pids = append(p.q.pids, list[i].PID)
		p.q.gpus = append(p.q.gpus, list[i].Device.Index)
	}
	p.busy = true
	p.ask <- p.q
	return true
}

// fill adds the identities and jobs that the registry found to the processes.
func (p *people) fill(list []profile.Process) {
	for i := range list {
		x := &list[i]
		if who := p.reg.known[x.PID]; who != nil {
			x.User, x.Command, x.Start = who.user, who.command, who.start
			x.Container, x.Pod, x.Namespace, x.Job = who.container, who.pod, who.namespace, who.job
		}
		x.Job = cmp.Or(x.Job, p.jobs[x.Device.Index])
	}
}

// markUnnamed sets the start of the processes to unknown; fill may set it later.
func markUnnamed(list []profile.Process) {
	for i := range list {
		list[i].Start = capcli.NoTime
	}
}
