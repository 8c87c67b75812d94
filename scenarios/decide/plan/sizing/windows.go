package sizing

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate/serving"
	"capcli/simulate/serving/service"
	"capcli/simulate/serving/traffic"
)

// Window is an hour of requests that are drawn from a curve, with its busiest part.
type Window struct {
	Start    capcli.Seconds    // of the hour, since midnight of the first day
	Requests int64             // in the hour
	Load     []serving.Request // of the busiest part
	Busiest  int64             // requests of its busiest minute
}

const (
	enough  = 60_000    // requests of the part of an hour that is played, unless the promises need a longer one
	most    = 2_000_000 // requests of a part
	hourMin = 60        // minutes of an hour
)

// busiest returns the window with the busiest minute; nil where requests are not drawn.
func (r *Request) busiest() *Window {
	var out *Window
	for i := range r.Windows {
		if w := &r.Windows[i]; len(w.Load) > 0 && (out == nil || w.Busiest > out.Busiest) {
			out = w
		}
	}
	return out
}

// windowHours sizes each hour on its busiest part.
func (q *plan) windowHours(ctx context.Context, s *Size) ([]Hour, error) {
	return capcli.MapParallel(ctx, q.Windows, nil, func(ctx context.Context, w Window) (Hour, error) {
		h := Hour{Start: w.Start, Requests: int(w.Requests), Rate: float64(w.Requests) / 3600}
		if len(w.Load) == 0 {
			h.Replicas, h.GPUs = new(int), new(int64)
			return h, nil
		}
		return h, q.sizeHour(ctx, &h, s, w.Load, max(q.search, bound))
	})
}

// drawWindows draws the hours of some days of a service's own requests. The part of an hour that is
// played is its busiest minutes: as many as have enough requests, and fifty times the longest limit, so
// that a queue that grows breaks it.
func (r *Request) drawWindows(ctx context.Context, s *service.Spec, o service.Opening, days int) error {
	src, err := s.Traffic(ctx, o)
	if err != nil {
		return err
	}
	hours := 24 * days
	if end := src.Length(); end > 0 {
		hours = min(hours, int((end+capcli.Hour-1)/capcli.Hour))
	}
	counts, err := src.Counts(capcli.Minute, hours*hourMin)
	if err != nil {
		return err
	}
	least, err := r.leastMinutes()
	if err != nil {
		return err
	}
	total := int64(0)
	for h := range hours {
		w := Window{Start: capcli.Seconds(h) * capcli.Hour}
		minutes := counts[h*hourMin : (h+1)*hourMin]
		for _, n := range minutes {
			w.Requests += n
			w.Busiest = max(w.Busiest, n)
		}
		total += w.Requests
		from, n := busiestMinutes(minutes, least)
		for x := range traffic.RequestsBetween(src, w.Start+capcli.Seconds(from)*capcli.Minute, w.Start+capcli.Seconds(from+n)*capcli.Minute) {
			if len(w.Load) == most {
				return &capcli.RequestError{Field: "requests", Text: fmt.Sprintf(": over %s requests come in %d minutes, the least that says whether the promises hold", capcli.Grouped(most), n)}
			}
			w.Load = append(w.Load, x)
		}
		r.Windows = append(r.Windows, w)
	}
	if total == 0 {
		return &capcli.InputError{Field: "requests", Text: fmt.Sprintf("no request comes in %d hours", hours), Hint: "look at rate and start"}
	}
	r.Whole = wholeTraffic(src, total, hours, slices.Max(counts))
	return nil
}

// busiestMinutes returns the part of an hour with the most requests: at least so many minutes, and more
// until it has enough.
func busiestMinutes(minutes []int64, least int) (from, n int) {
	for n = least; ; n++ {
		sum, top := int64(0), int64(-1)
		for i, x := range minutes {
			if sum += x; i >= n {
				sum -= minutes[i-n]
			}
			if i >= n-1 && sum > top {
				from, top = i-n+1, sum
			}
		}
		if top >= enough || n == len(minutes) {
			return from, n
		}
	}
}

// leastMinutes returns the minutes that are fifty times the longest limit of the promises, at most an
// hour.
func (r *Request) leastMinutes() (int, error) {
	promises, err := r.promised()
	if err != nil {
		return 0, err
	}
	longest := max(r.Choices[0].Config.SLO.TTFT, r.Choices[0].Config.SLO.E2E)
	for i := range promises {
		if p := &promises[i]; p.of == ttft || p.of == e2e {
			longest = max(longest, p.limit)
		}
	}
	return int(min(hourMin, max(1, (50*longest+59_999_999)/60_000_000))), nil
}

func wholeTraffic(src traffic.Source, total int64, hours int, busiest int64) *Traffic {
	l := src.Lengths()
	t := &Traffic{
		Requests: int(total), Span: float64(hours) * 3600, Rate: float64(total) / (float64(hours) * 3600), Peak: float64(busiest) / 60,
		In: int64(float64(total)*l.In.Mean + 0.5), Out: int64(float64(total)*l.Out.Mean + 0.5),
	}
	t.PerMonth = t.Rate * month
	t.TokensMonth = t.PerMonth * float64(t.In+t.Out) / float64(total)
	return t
}
