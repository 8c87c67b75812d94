package trace

import (
	"bytes"

	"capcli"
)

// tres is a parsed TRES or GRES list of Slurm: the resources of a job.
type tres struct {
	gpus   int64
	model  string // GPU type with the most GPUs; "" if no entry has a type
	models int    // number of typed entries
	cpu    int64  // thousandths of a CPU
	mem    int64  // MiB
}

// parseTRES parses "billing=4,cpu=4,gres/gpu:h100=4,gres/gpu=4,mem=800M,node=2". Typed and
// untyped entries count the same devices, so the number of GPUs is gres/gpu, or the sum over
// the types where there is no gres/gpu. Counts are over all nodes.
func parseTRES(list []byte) (t tres, bad flaw) {
	var untyped, typed, most int64
	hasUntyped := false
	for len(list) > 0 {
		var entry []byte
		entry, list, _ = bytes.Cut(list, []byte{','})
		name, value, _ := bytes.Cut(trim(entry), []byte{'='})
		switch {
		case string(name) == "cpu":
			t.cpu, bad = optional(value, 1000)
		case string(name) == "mem":
			t.mem, bad = memory(value)
		case string(name) == "gres/gpu":
			hasUntyped = true
			untyped, bad = count(value)
		case bytes.HasPrefix(name, []byte("gres/gpu:")):
			var n int64
			if n, bad = count(value); bad == flawless {
				typed += n
				most = t.countTyped(string(name[len("gres/gpu:"):]), n, most)
			}
		}
		if bad != flawless {
			return t, bad
		}
	}
	t.gpus = typed
	if hasUntyped {
		t.gpus = untyped
	}
	return t, flawless
}

// countTyped counts n GPUs of a model and returns the highest count of any model, where most
// is that of the models before. Of equal counts the first name in order wins.
func (t *tres) countTyped(model string, n, most int64) int64 {
	t.models++
	if n > most || (n == most && (t.model == "" || model < t.model)) {
		t.model = model
		return n
	}
	return most
}

// parseGRES parses "gpu:2", "gpu:tesla:2", "gpu:a100:4(S:0-1)", and the same after "gres:",
// "gres/" or "PER_NODE:", which old clusters print. Counts are for one node.
func parseGRES(list []byte) (t tres, bad flaw) {
	var most int64
	for len(list) > 0 {
		var entry []byte
		entry, list, _ = bytes.Cut(list, []byte{','})
		entry = trim(entry)
		for _, prefix := range []string{"PER_NODE:", "gres:", "gres/"} {
			entry = bytes.TrimPrefix(entry, []byte(prefix))
		}
		entry, _, _ = bytes.Cut(entry, []byte{'('})
		name, rest, typed := bytes.Cut(entry, []byte{':'})
		if string(name) != "gpu" {
			continue
		}
		n := int64(1)
		if typed {
			model := ""
			if i := bytes.LastIndexByte(rest, ':'); i >= 0 {
				model, rest = string(rest[:i]), rest[i+1:]
			}
			if n, bad = count(rest); bad != flawless {
				return t, bad
			}
			if model != "" {
				most = t.countTyped(model, n, most)
			}
		}
		t.gpus += n
	}
	return t, flawless
}

// memory parses an amount with a unit (K, M, G, T, P; without one M) and returns MiB. An empty
// b is 0.
func memory(b []byte) (int64, flaw) {
	b = trim(b)
	if len(b) == 0 {
		return 0, flawless
	}
	scale, over := int64(1024), int64(1)
	switch b[len(b)-1] {
	case 'K', 'k':
		scale = 1
	case 'M', 'm':
	case 'G', 'g':
		over = 1 << 10
	case 'T', 't':
		over = 1 << 20
	case 'P', 'p':
		over = 1 << 30
	default:
		b = append(b[:len(b):len(b)], 'M')
	}
	n, _, bad := fixed(b[:len(b)-1], scale)
	switch {
	case bad != flawless:
		return 0, bad
	case n < 0:
		return 0, negative
	case n > maxMem/over:
		return 0, tooLarge
	}
	return n * over / 1024, flawless
}

// maxMem is the most memory in KiB. It keeps products far from 2^63.
const maxMem = 1 << 56

// reqMem parses ReqMem, such as 31000M, and returns MiB. On old clusters the suffix n means
// for each node, and c for each CPU. It returns 0, unknown, for text that cannot be parsed,
// and for values from 2^31 MiB on, which are a flag that Slurm printed as a number.
func reqMem(b []byte, nodes, cpuMilli int64) int64 {
	b = trim(b)
	if len(b) < 2 {
		return 0
	}
	times := int64(1)
	switch b[len(b)-1] {
	case 'n':
		times, b = max(nodes, 1), b[:len(b)-1]
	case 'c':
		times, b = max(cpuMilli/1000, 1), b[:len(b)-1]
	}
	n, bad := memory(b)
	if bad != flawless || n >= 1<<31 || n > maxMem/times {
		return 0
	}
	return n * times
}

// slurmLength parses D-HH:MM:SS, D-HH:MM, HH:MM:SS or MM:SS and returns seconds. It ignores a
// fraction of a second.
func slurmLength(b []byte) (capcli.Seconds, flaw) {
	b = trim(b)
	if len(b) == 0 {
		return 0, missing
	}
	var days int
	if d, rest, ok := bytes.Cut(b, []byte{'-'}); ok {
		n, isNumber := Digits(d)
		if !isNumber || len(d) > 6 {
			return 0, notTime
		}
		days, b = n, rest
	}
	b, _, _ = bytes.Cut(b, []byte{'.'})
	var total capcli.Seconds
	parts := 0
	for more := true; more; parts++ {
		var part []byte
		part, b, more = bytes.Cut(b, []byte{':'})
		n, isNumber := Digits(part)
		if !isNumber || len(part) > 6 || parts == 3 {
			return 0, notTime
		}
		total = total*60 + capcli.Seconds(n)
	}
	switch {
	case parts == 1:
		return 0, notTime
	case parts == 2 && days > 0: // D-HH:MM
		total *= 60
	}
	return total + capcli.Seconds(days)*capcli.Day, flawless
}
