package box

import (
	"context"
	"io/fs"
	"time"

	"capcli/profile"
)

// patience is how long Read waits for the box after the source has answered. A file of the kernel
// answers in microseconds; one of a device in trouble may not answer at all.
const patience = 100 * time.Millisecond

// surrounded is a source with the figures of the box around its GPUs.
type surrounded struct {
	profile.Source
	work  *worker
	timer *time.Timer
	// missed says that the worker has not answered an order of an earlier tick yet.
	missed bool
}

// Wrap returns a source that adds the figures of this box to the ticks of src: those of the box to each,
// those of the control groups of its processes to ticks with processes. It returns src as it is where
// the system is not Linux. Close closes src.
func Wrap(src profile.Source) profile.Source {
	root, now, ok := thisBox()
	if !ok {
		return src
	}
	return wrap(src, root, now)
}

func wrap(src profile.Source, root fs.FS, now func() time.Duration) *surrounded {
	return &surrounded{Source: src, work: startWorker(newBox(root, now)), timer: newTimer()}
}

// Recorded reports whether the source is a recording.
func (s *surrounded) Recorded() bool { return profile.Recorded(s.Source) }

// Read reads the box while the source reads the GPUs, then the control groups of the processes that the
// source found. Where the box does not answer in time, its figures are missing and the tick is not late.
func (s *surrounded) Read(ctx context.Context, t *profile.Tick) error {
	if s.missed {
		select {
		case <-s.work.done:
			s.missed = false
		default:
		}
	}
	asked := !s.missed
	if asked {
		s.work.ask <- order{}
	}
	err := s.Source.Read(ctx, t)
	if err != nil {
		s.missed = s.missed || asked
		return err
	}
	t.LookedAtHost = true
	if !asked || !s.wait() {
		t.Host.Clear(profile.Timeout)
		return nil
	}
	t.Host = s.work.host
	if !t.LookedAtProcesses {
		return nil
	}
	s.work.processes = s.work.processes[:0]
	for i := range t.Processes {
		p := &t.Processes[i]
		s.work.processes = append(s.work.processes, holder{process{p.PID, p.Start}, p.Owner()})
	}
	s.work.ask <- order{groups: true}
	if s.wait() {
		t.Groups = append(t.Groups, s.work.groups...)
	}
	return nil
}

// wait waits for the worker and reports whether it answered.
func (s *surrounded) wait() bool {
	select {
	case <-s.work.done:
		return true
	default:
	}
	s.timer.Reset(patience)
	defer s.timer.Stop()
	select {
	case <-s.work.done:
		return true
	case <-s.timer.C:
		s.missed = true
		return false
	}
}

// Close ends the worker, which closes its files, and closes the source. A worker that is stuck in a read
// of the kernel stays behind, since nothing can end it.
func (s *surrounded) Close() error {
	close(s.work.ask)
	return s.Source.Close()
}

// worker reads the box on a goroutine of its own, since a file of a device in trouble may block. Its
// fields belong to it between an order and the answer.
type worker struct {
	ask       chan order
	done      chan struct{}
	box       *box
	host      profile.HostSample
	processes []holder
	groups    []profile.GroupSample
}

// order asks for the figures of the box, or for those of control groups.
type order struct{ groups bool }

func startWorker(b *box) *worker {
	w := &worker{ask: make(chan order, 1), done: make(chan struct{}, 1), box: b}
	go func() {
		for o := range w.ask {
			if o.groups {
				w.groups = b.lookAtGroups(w.processes, w.groups[:0])
			} else {
				b.look(&w.host)
			}
			w.done <- struct{}{}
		}
		b.close()
	}()
	return w
}
