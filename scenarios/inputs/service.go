package inputs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan/sizing"
	"capcli/simulate/serving/service"
)

// ServiceClass is the class of the jobs that services become: work that must be there always.
const ServiceClass = "service"

// load is the GPUs that a service needs by the hour.
type load struct {
	*part
	name  string
	model string      // "" is not said
	unit  int64       // GPUs of a replica
	gpus  []int64     // by hour
	start capcli.Time // of the first hour; NoTime where its requests have no dates
}

const hour = capcli.Time(capcli.Hour)

// readServices sizes the load of each service, hour by hour. A trace of requests is that of the only service.
func (r *reading) readServices(ctx context.Context) error {
	specs, traces := r.partsOf(Service), r.partsOf(Requests)
	switch {
	case len(traces) > 0 && len(specs) == 0:
		return &capcli.InputError{
			File: traces[0].File, Text: "this is a trace of requests: the GPUs that they need depend on the service",
			Hint: "describe it and give both: capcli service init > chat.yaml, then --trace chat.yaml --trace " + capcli.ShellWord(traces[0].File),
		}
	case len(traces) > 1 || len(traces) == 1 && len(specs) > 1:
		return &capcli.RequestError{
			Text: fmt.Sprintf("%s and %s: nothing says which requests are whose", listed(len(specs), "service"), listed(len(traces), "trace of requests")),
			Hint: "name the trace in each description: requests: {from: " + traces[0].File + "}",
		}
	}
	for _, p := range specs {
		f := sizing.Files{Spec: p.File}
		if len(traces) > 0 {
			t := traces[0]
			var err error
			if t.SHA256, err = r.hash(t.File); err != nil {
				return err
			}
			t.Took, f.Requests = "the requests of "+p.File, t.File
		}
		if err := r.readService(ctx, p, &f); err != nil {
			return err
		}
	}
	return nil
}

// readService sizes a service with what the program has: its promise, hour by hour.
func (r *reading) readService(ctx context.Context, p *part, f *sizing.Files) error {
	var err error
	if p.SHA256, err = r.hash(p.File); err != nil {
		return err
	}
	l := &load{part: p, start: capcli.NoTime}
	r.readOwn(f)
	ask := sizing.Request{Hourly: true, Search: "bound"} // the same sizes as by exact, for fewer are proven not to hold
	seen := &seen{open: r.Sources.Open, sum: sha256.New()}
	if err := f.Fill(ctx, seen.Open, &ask); err != nil {
		return notSized(p.File, err)
	}
	size, err := r.recall(fmt.Sprintf("service %d %x", f.Days, seen.sum.Sum(nil)), seen.streams, func() (*size, error) { return r.size(ctx, p.File, &ask) })
	if err != nil {
		return notSized(p.File, err)
	}
	model, _, _ := strings.Cut(strings.ToUpper(ask.GPUModel), "_") // h100_sxm is an H100
	l.name, l.model, l.unit, l.gpus = ask.Service, model, size.Unit, size.GPUs
	if l.name == p.File {
		l.name = strings.TrimSuffix(filepath.Base(p.File), filepath.Ext(p.File))
	}
	if ask.Start != 0 {
		day := capcli.Time(ask.Start/1_000_000) / capcli.Time(capcli.Day) * capcli.Time(capcli.Day)
		l.start = day + capcli.Time(size.First)
	}
	p.Days = daysOf(capcli.Seconds(len(l.gpus)) * capcli.Hour)
	r.services = append(r.services, l)
	return nil
}

// size is the GPUs of a service by the hour.
type size struct {
	Unit  int64          `json:"unit"`  // GPUs of a replica
	First capcli.Seconds `json:"first"` // start of the first hour, from midnight of its day
	GPUs  []int64        `json:"gpus"`
}

// size sizes the requests of a service, hour by hour.
func (r *reading) size(ctx context.Context, file string, ask *sizing.Request) (*size, error) {
	at, end := r.progress("replays")
	ask.Progress = func(done, _ int64) { at(done) }
	plan, err := ask.Plan(ctx)
	if err != nil {
		return nil, err
	}
	end(plan.Replays)
	if plan.Best == nil {
		return nil, &capcli.InputError{File: file, Text: plan.NoPlan().Error(), Hint: "capcli plan service " + capcli.ShellWord(file) + " says which promise binds"}
	}
	out := &size{Unit: *plan.GPUs / int64(*plan.Replicas), First: plan.Hours[0].Start}
	for i := range plan.Hours {
		h := &plan.Hours[i]
		if h.GPUs == nil {
			return nil, &capcli.InputError{File: file, Text: fmt.Sprintf("in the hour %s no number of replicas keeps the promise: %s", h.Name(), h.Why), Hint: "capcli plan service " + capcli.ShellWord(file) + " --hourly"}
		}
		out.GPUs = append(out.GPUs, *h.GPUs)
	}
	return out, nil
}

// recall returns what make made of the same key before, or makes and keeps it. once says that it cannot be kept.
func (r *reading) recall(key string, once bool, make func() (*size, error)) (*size, error) {
	if r.Keep == nil || once {
		return make()
	}
	b, err := r.Keep(key, func() ([]byte, error) {
		s, err := make()
		if err != nil {
			return nil, err
		}
		return json.Marshal(s)
	})
	if err != nil {
		return nil, err
	}
	out := &size{}
	return out, json.Unmarshal(b, out)
}

// seen sums the names and the contents of the files that are opened.
type seen struct {
	open    trace.Opener
	sum     hash.Hash
	streams bool // one could not be summed
}

func (s *seen) Open(name string) (trace.Input, io.Closer, error) {
	in, closer, err := s.open(name)
	if err != nil || in.At == nil {
		s.streams = true
		return in, closer, err
	}
	_, _ = fmt.Fprintf(s.sum, "%s %d ", name, in.Size) // a hash never fails
	if _, err := io.Copy(s.sum, io.NewSectionReader(in.At, 0, in.Size)); err != nil {
		return in, closer, errors.Join(err, closer.Close())
	}
	return in, closer, nil
}

// readOwn looks at the description of a service: a curve with a weekend is sized for a week, another one for a day;
// a trace that it names is read with its dates, where it is taken as it is.
func (r *reading) readOwn(f *sizing.Files) {
	s, err := service.ReadSpec(r.Sources.Open, f.Spec)
	if err != nil || f.Requests != "" || s.Requests == nil {
		return // sizing says what is wrong
	}
	q := s.Requests
	if q.From == "" {
		if c := &q.Demand.Curve; q.Curve != "" || c.Weekend != 0 || c.Growth != 0 {
			f.Days = 7
		}
		return
	}
	if q.Only != "" || q.Speed != 0 || q.Scale != 0 || q.Repeat != 0 || q.Spread != 0 || q.Cached >= 0 {
		return
	}
	f.Requests, f.Read = q.From, q.Read
	if !filepath.IsAbs(q.From) {
		f.Requests = filepath.ToSlash(filepath.Join(filepath.Dir(f.Spec), q.From))
	}
}

// notSized says of a wrong request for a size that it is the description's fault: decide has no flags for it.
func notSized(file string, err error) error {
	var wrong *capcli.RequestError
	if !errors.As(err, &wrong) {
		return err
	}
	return &capcli.InputError{File: file, Text: "the service cannot be sized: " + strings.TrimSpace(wrong.Field+" "+strings.TrimLeft(wrong.Text, ": ")), Hint: "requests: and slo: belong into the description; capcli plan service " + capcli.ShellWord(file) + " sizes it alone"}
}

// spread returns the jobs of the service from a time up to another: its GPUs in the hours of its load, and in others
// those of the same hour of the week, the day or the load, whichever it has whole.
func (l *load) spread(from, until capcli.Time) ([]capcli.Job, error) {
	start := l.start
	if !start.IsKnown() {
		start = (from + capcli.Time(capcli.Day) - 1) / capcli.Time(capcli.Day) * capcli.Time(capcli.Day)
	}
	n := l.period()
	first := from / hour * hour
	v := levels{
		at: func(i int) capcli.Time { return first + capcli.Time(i)*hour }, unit: l.unit,
		like: capcli.Job{Tenant: l.name, GPUModel: l.model, Class: ServiceClass},
	}
	for t := first; t < until; t += hour {
		i := int64((t - start) / hour)
		if i < 0 || i >= int64(len(l.gpus)) {
			i = ((i % n) + n) % n
		}
		v.milli = append(v.milli, 1000*l.gpus[i])
	}
	if l.unit < 1 {
		v.unit = 1
	}
	return v.jobs()
}

// period returns the hours after which the load is taken to come again: whole weeks, else whole days, else all of it.
func (l *load) period() int64 {
	n := int64(len(l.gpus))
	for _, p := range []int64{168, 24} {
		if n >= p {
			return n / p * p
		}
	}
	return n
}

// periodText says what the load of other times is taken from.
func (l *load) periodText() string {
	switch n := l.period(); {
	case n%168 == 0:
		return "the same hour of its weeks"
	case n%24 == 0:
		return "the same hour of its days"
	default:
		return fmt.Sprintf("its %d %s, which are no whole day", n, capcli.Plural(n, "hour"))
	}
}
