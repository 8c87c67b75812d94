package slurm

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	maxIncludes = 8       // files within each other
	maxNodes    = 200_000 // of a site
)

// conf reads slurm.conf.
func (r *reader) conf(f *file) error {
	if r.depth++; r.depth > maxIncludes {
		return fault(f, 0, "Include", "expected at most %d files within each other", maxIncludes)
	}
	defer func() { r.depth-- }()
	return eachLine(f.text, func(line int, text string) error {
		words := splitWords(text, '"', " \t")
		if len(words) >= 2 && strings.EqualFold(words[0], "include") {
			return r.include(f, line, words[1])
		}
		switch first, _, _ := strings.Cut(words[0], "="); strings.ToLower(first) {
		case "nodename":
			w, err := r.record(f, line, words, "nodename cpus procs sockets corespersocket threadspercore boards socketsperboard realmemory gres weight features feature")
			return r.node(w, err)
		case "partitionname":
			w, err := r.record(f, line, words, "partitionname nodes priorityjobfactor prioritytier priority maxtime defaulttime default tresbillingweights qos preemptmode")
			return r.partition(w, err)
		}
		for _, word := range words {
			key, value, ok := strings.Cut(word, "=")
			if !ok {
				return fault(f, line, key, "expected Key=Value, found no =")
			}
			r.Settings[strings.ToLower(key)] = value
			r.note(f, line, key, key, usedSettings)
		}
		return nil
	})
}

// include reads another file of the folder.
func (r *reader) include(f *file, line int, name string) error {
	r.account(f, line, "Include "+name, "")
	for _, other := range r.files {
		if path.Base(other.name) == path.Base(name) {
			r.account(other, 0, "", "")
			return r.conf(other)
		}
	}
	return fault(f, line, "Include", "expected the file %s in the folder", path.Base(name))
}

// eachLine calls use for each line of a configuration without its comment; \ at the end joins the next.
func eachLine(text string, use func(line int, text string) error) error {
	number, joined := 0, ""
	for one := range strings.Lines(text) {
		number++
		one = strings.TrimRight(one, "\r\n")
		if before, ok := strings.CutSuffix(one, "\\"); ok {
			joined += before
			continue
		}
		one, joined = joined+one, ""
		for i := range len(one) {
			if one[i] == '#' && (i == 0 || one[i-1] != '\\') {
				one = one[:i]
				break
			}
		}
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if err := use(number, one); err != nil {
			return err
		}
	}
	return nil
}

// splitWords splits a line at the characters of at that are outside of quotes, and takes the quotes off.
func splitWords(s string, quote rune, at string) (out []string) {
	var word strings.Builder
	inside := false
	for _, c := range s {
		switch {
		case c == quote:
			inside = !inside
		case inside || !strings.ContainsRune(at, c):
			word.WriteRune(c)
		case word.Len() > 0:
			out = append(out, word.String())
			word.Reset()
		}
	}
	if word.Len() > 0 || out == nil {
		out = append(out, word.String())
	}
	return out
}

// record returns the fields of a line that begins with its name, after the defaults of the last line NAME=DEFAULT.
// It is nil for such a line.
func (r *reader) record(f *file, line int, words []string, used string) (*row, error) {
	first, _, _ := strings.Cut(words[0], "=")
	name := strings.ToLower(first)
	w := &row{f: f, line: line, v: map[string]string{}}
	maps.Copy(w.v, r.defaults[name])
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fault(f, line, word, "expected Key=Value, found no =")
		}
		w.v[strings.ToLower(key)] = value
		r.note(f, line, first+" "+key, key, used)
	}
	if w.v[name] == "DEFAULT" {
		r.defaults[name] = w.v
		return nil, nil
	}
	return w, nil
}

// node takes a line NodeName=….
func (r *reader) node(w *row, err error) error {
	if w == nil {
		return err
	}
	names := w.hosts("nodename")
	cores := int64(1)
	for _, key := range []string{"boards", "sockets", "socketsperboard", "corespersocket", "threadspercore"} {
		cores = min(cores*max(1, w.int(key, 1)), 1<<20)
	}
	n := machine{MemMB: w.int("realmemory", 1), Weight: w.int("weight", 1), Features: append(w.list("features"), w.list("feature")...)}
	n.CPUs = cmp.Or(w.int("cpus", 0), w.int("procs", cores))
	n.GPUs, n.GPUModel = parseGres(w.text("gres"))
	if len(r.Nodes)+len(names) > maxNodes {
		w.fail("nodename", "fewer nodes")
	}
	for _, name := range names {
		one := n
		one.Name = name
		r.Nodes = append(r.Nodes, &one)
	}
	return w.err
}

// parseGres reads the GPUs of a list like gpu:a100:4(S:0-1),nvme:1.
func parseGres(text string) (n int64, model string) {
	for part := range strings.SplitSeq(text, ",") {
		part, _, _ = strings.Cut(part, "(")
		w := strings.Split(part, ":")
		if w[0] != "gpu" {
			continue
		}
		one := int64(1)
		if k, err := strconv.ParseInt(w[len(w)-1], 10, 32); err == nil && len(w) > 1 {
			one = max(0, k)
			w = w[:len(w)-1]
		}
		if n += one; len(w) > 1 {
			model = w[1]
		}
	}
	return n, model
}

// partition takes a line PartitionName=….
func (r *reader) partition(w *row, err error) error {
	if w == nil {
		return err
	}
	p := &partition{
		Name: w.v["partitionname"], QOS: w.text("qos"), First: strings.EqualFold(w.text("default"), "yes"), Preemption: strings.ToUpper(w.text("preemptmode")),
		Factor: w.int("priorityjobfactor", 1), Tier: w.int("prioritytier", 1), MaxTime: w.limit("maxtime"), Default: w.limit("defaulttime"), Billing: map[string]float64{},
	}
	if r.findPartition(p.Name) != nil || p.Name == "" {
		return fault(w.f, w.line, "PartitionName", "expected a name that is not there yet, found %q", p.Name)
	}
	if strings.EqualFold(w.text("nodes"), "ALL") {
		for _, n := range r.Nodes {
			p.Nodes = append(p.Nodes, n.Name)
		}
	} else if w.text("nodes") != "" {
		p.Nodes = w.hosts("nodes")
	}
	for part := range strings.SplitSeq(w.text("tresbillingweights"), ",") {
		if name, weight, ok := strings.Cut(part, "="); ok {
			v, unit, _ := cutUnit(weight)
			p.Billing[strings.ToLower(name)] = v / unit // 0.25G is for each GiB
		}
	}
	r.Partitions = append(r.Partitions, p)
	return w.err
}

// gres reads gres.conf: it names the models of GPUs that slurm.conf leaves out.
func (r *reader) gres(f *file) error {
	return eachLine(f.text, func(line int, text string) error {
		w, err := r.record(f, line, splitWords(text, '"', " \t"), "nodename name type")
		if w == nil || w.text("name") != "gpu" || w.text("type") == "" {
			return err
		}
		all := w.text("nodename") == ""
		var names []string
		if !all {
			names = w.hosts("nodename")
		}
		for _, n := range r.Nodes {
			if (all || slices.Contains(names, n.Name)) && n.GPUs > 0 && n.GPUModel == "" {
				n.GPUModel = w.text("type")
			}
		}
		return w.err
	})
}
