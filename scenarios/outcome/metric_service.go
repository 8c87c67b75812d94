package outcome

import (
	"strings"

	"capcli"
)

// serviceMetrics are the figures of services. A time, a share or a price is that of the worst service; a
// number is the sum over all. A name before the metric asks for one service: chat.ttft_p99.
func serviceMetrics() []*Metric {
	usd := func(value func(s *Service) *capcli.USD) reading {
		return ofServices(worstOf(false), func(s *Service) *float64 {
			if u := value(s); u != nil {
				v := u.Float()
				return &v
			}
			return nil
		})
	}
	number := func(value func(s *Service) float64) reading {
		return ofServices(sum, func(s *Service) *float64 {
			v := value(s)
			return &v
		})
	}
	return append(timeMetrics(), []*Metric{
		{"slo_share", InShare, true, "requests answered within the promise, of all that came, of the worst service that promises something", ofServices(worstOf(true), func(s *Service) *float64 {
			if s.Promise == nil {
				return skipped
			}
			return s.Promise.Share
		})},
		{"goodput", InCount, true, "requests answered within the promise a second, of the worst service that promises something", ofServices(worstOf(true), func(s *Service) *float64 {
			if s.Promise == nil {
				return skipped
			}
			return s.Goodput
		})},
		{"tokens_per_gpu_second", InCount, true, "tokens of answers over the GPU-seconds that replicas held, of the worst service", ofServices(worstOf(true), func(s *Service) *float64 { return s.TokensPerGPU })},
		{"late_requests", InCount, false, "requests served more steps after their own than the services allow, or not by the end", number(func(s *Service) float64 { return float64(s.Late) })},
		{"unserved_requests", InCount, false, "requests that were rejected or not answered in full", number(func(s *Service) float64 { return float64(s.NotAnswered()) })},
		{"usd_per_mtok", InUSD, false, "cost of a service over a million tokens of prompts and answers, of the dearest", usd(func(s *Service) *capcli.USD { return s.PerMtok })},
		{"usd_per_mtok_out", InUSD, false, "cost of a service over a million tokens of answers, of the dearest", usd(func(s *Service) *capcli.USD { return s.PerMtokOut })},
		{"usd_per_1000_requests", InUSD, false, "cost of a service over a thousand requests answered, of the dearest", usd(func(s *Service) *capcli.USD { return s.PerRequest })},
		{"services_usd", InUSD, false, "cost of all services, with their share of what nobody held", ofServices(sum, func(s *Service) *float64 {
			if s.Cost == nil {
				return nil
			}
			v := s.Cost.Float()
			return &v
		})},
		{"services_gpu_hours", InGPUHours, false, "GPU-hours that replicas held", number(func(s *Service) float64 { return s.Held.Hours() })},
		{"missing_gpu_hours", InGPUHours, false, "GPU-hours of replicas that were wanted and had no room", number(func(s *Service) float64 { return s.Missing.Hours() })},
		{"jobs_displaced", InCount, false, "times that a job lost its GPUs to a replica", number(func(s *Service) float64 { return float64(s.Displaced) })},
		{"repeated_gpu_hours", InGPUHours, false, "work that displaced jobs had to do again", number(func(s *Service) float64 { return s.Repeated.Hours() })},
	}...)
}

// timeMetrics are the figures of what requests saw.
func timeMetrics() []*Metric {
	var out []*Metric
	for _, x := range []struct {
		name, doc string
		times     func(s *Service) *Times
	}{
		{"ttft", "from the arrival of a request to its first token", func(s *Service) *Times { return s.TTFT }},
		{"tpot", "of a token of an answer after the first", func(s *Service) *Times { return s.TPOT }},
		{"e2e", "from the arrival of a request to its last token", func(s *Service) *Times { return s.E2E }},
	} {
		for _, q := range []struct {
			name, doc string
			value     func(t *Times) *float64
		}{
			{"mean", "mean time ", func(t *Times) *float64 { return t.Mean }},
			{"p50", "median time ", func(t *Times) *float64 { return t.P50 }},
			{"p95", "95th percentile of the time ", func(t *Times) *float64 { return t.P95 }},
			{"p99", "99th percentile of the time ", func(t *Times) *float64 { return t.P99 }},
		} {
			out = append(out, &Metric{x.name + "_" + q.name, InSeconds, false, q.doc + x.doc + ", of the worst service", ofServices(worstOf(false), func(s *Service) *float64 {
				if t := x.times(s); t != nil {
					return q.value(t)
				}
				return nil
			})})
		}
	}
	return out
}

// OfServices reports whether the metric is a figure of services, which a run without any does not have.
func (m *Metric) OfServices() bool { return m.value != nil }

// skipped is the figure of a service that does not count.
var skipped = new(float64)

// ofServices reads a figure of the services: join makes one of all. It is unknown where a service lacks it.
func ofServices(join func(a, b float64) float64, value func(s *Service) *float64) reading {
	r := reading{join: join, value: value}
	r.get = func(o *Outcome) (Figure, bool) { return r.joinOver(o.Services) }
	return r
}

func (r reading) joinOver(services []Service) (out Figure, known bool) {
	for i := range services {
		v := r.value(&services[i])
		switch {
		case v == nil:
			return Figure{}, false
		case v == skipped:
		case !known:
			out.Value, known = *v, true
		default:
			out.Value = r.join(out.Value, *v)
		}
	}
	return out, known
}

func sum(a, b float64) float64 { return a + b }

// worstOf returns the least of two figures if more is better, else the greatest.
func worstOf(moreIsBetter bool) func(a, b float64) float64 {
	return func(a, b float64) float64 {
		if moreIsBetter {
			return min(a, b)
		}
		return max(a, b)
	}
}

// ofOneService returns the metric of one service, which name begins with: chat.ttft_p99; nil if it is no
// such name.
func ofOneService(name string) *Metric {
	at := strings.LastIndexByte(name, '.')
	if at <= 0 {
		return nil
	}
	m, service := plainMetric(name[at+1:]), name[:at]
	if m == nil || m.value == nil {
		return nil
	}
	one := *m
	one.Name = service + "." + m.Name
	one.get = func(o *Outcome) (Figure, bool) {
		for i := range o.Services {
			if o.Services[i].Name == service {
				return m.joinOver(o.Services[i : i+1])
			}
		}
		return Figure{}, false
	}
	return &one
}
