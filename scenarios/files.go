package scenarios

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"capcli"
	"capcli/forecast/roadmap"
	"capcli/scenarios/events"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
	"capcli/simulate/supply"
)

// opened caches the contents of a scenario's files, so that they are read once for all
// replications.
type opened struct {
	lock   sync.Mutex
	files  *files
	shapes *shapeBook // until the files are read
	loads  map[loadKey]*ServiceLoad
}

// files is the contents of the files that a scenario names.
type files struct {
	nodes        map[string][]group             // by the pool's name
	domains      map[string][][]string          // domains of each node, by the name of a pool with a topology
	availability map[string]supply.Availability // by Availability.key
	predicted    map[string]capcli.Seconds
	shapes       *shapeBook   // nil if the scenario has none
	campaigns    roadmap.Plan // with what follows them
	energy       *billing.Energy
}

// load returns the contents of the files that the scenario names. The first call reads
// them.
func (s *Scenario) load(open func(string) ([]byte, error)) (*files, error) {
	s.opened.lock.Lock()
	defer s.opened.lock.Unlock()
	if s.opened.files != nil {
		return s.opened.files, nil
	}
	if open == nil {
		open = openNothing
	}
	if err := s.priced(open); err != nil {
		return nil, err
	}
	f := &files{nodes: map[string][]group{}, domains: map[string][][]string{}, availability: map[string]supply.Availability{}}
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if c.NodesFile != "" {
			b, err := open(c.NodesFile)
			if err != nil {
				return nil, err
			}
			if f.nodes[c.Name], err = readNodes(c, b); err != nil {
				return nil, err
			}
		}
		if err := f.loadTraces(c, open); err != nil {
			return nil, err
		}
		if err := f.loadDomains(c, open); err != nil {
			return nil, err
		}
	}
	if err := f.loadPredictions(s.Policy.Predictions, open); err != nil {
		return nil, err
	}
	var err error
	if f.campaigns.List, err = events.Settle(s.File, s.Campaigns, open); err != nil {
		return nil, err
	}
	if err := s.readSpeed(open); err != nil {
		return nil, err
	}
	if err := s.readTables(open); err != nil {
		return nil, err
	}
	if f.shapes, err = s.readShapes(open); err != nil {
		return nil, err
	}
	f.energy, err = s.loadEnergy(open)
	if err == nil {
		s.opened.files = f
	}
	return f, err
}

// openNothing is the opener of a run without access to files.
func openNothing(name string) ([]byte, error) {
	return nil, fmt.Errorf("open %s: this run has no access to files", name)
}

// loadPredictions reads a file of predicted run times; "" is none.
func (f *files) loadPredictions(file string, open func(string) ([]byte, error)) error {
	if file == "" {
		return nil
	}
	b, err := open(file)
	if err != nil {
		return err
	}
	f.predicted, err = readPredictions(file, b)
	return err
}

// loadTraces reads the recorded histories that a pool follows.
func (f *files) loadTraces(c *Capacity, open func(string) ([]byte, error)) error {
	for _, t := range c.traces() {
		b, err := open(t.File)
		if err != nil {
			return err
		}
		a, err := supply.ParseAvailability(bytes.NewReader(b), polarities[t.Polarity])
		if err != nil {
			return inFile(err, t.File)
		}
		f.availability[t.key()] = a
	}
	return nil
}

// readTables reads the tables of iterations that services name.
func (s *Scenario) readTables(open func(string) ([]byte, error)) error {
	for i := range s.Services {
		if err := s.Services[i].ReadTable(open); err != nil {
			return err
		}
	}
	return nil
}

// traces returns the recorded histories that the pool follows.
func (c *Capacity) traces() (out []*Availability) {
	if c.Trace != nil {
		out = append(out, c.Trace)
	}
	if c.Buy != nil && c.Buy.Shortage != nil && c.Buy.Shortage.Trace != nil {
		out = append(out, c.Buy.Shortage.Trace)
	}
	return out
}

// key identifies a trace by its file and polarity.
func (a *Availability) key() string { return a.Polarity + " " + a.File }

var polarities = map[string]supply.Polarity{"available": supply.CountsAvailable, "preempted": supply.CountsPreempted}

// inFile adds the file's name to an error.
func inFile(err error, file string) error {
	var in *capcli.InputError
	if errors.As(err, &in) {
		in.File = cmp.Or(in.File, file)
		return in
	}
	return fmt.Errorf("%s: %w", file, err)
}

// rows reads a CSV with a header. It calls each with the line and the cells of columns, in that
// order, for each row.
func rows(file string, b []byte, columns []string, each func(line int, cells []string) error) error {
	r := csv.NewReader(bytes.NewReader(b))
	r.ReuseRecord = true
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return &capcli.InputError{File: file, Text: "the file is empty; want a header " + strings.Join(columns, ",")}
	}
	if err != nil {
		return csvError(file, err)
	}
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i] = slices.IndexFunc(head, func(h string) bool {
			return strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")), c)
		})
		if at[i] < 0 {
			return &capcli.InputError{File: file, Line: 1, Field: c, Text: "no such column; want a header " + strings.Join(columns, ",")}
		}
	}
	cells := make([]string, len(columns))
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvError(file, err)
		}
		for i, c := range at {
			cells[i] = strings.TrimSpace(row[c])
		}
		line, _ := r.FieldPos(0)
		if err := each(line, cells); err != nil {
			return err
		}
	}
}

func csvError(file string, err error) error {
	in := &capcli.InputError{File: file, Text: err.Error(), Err: err}
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		in.Line, in.Text = at.Line, "not valid CSV: "+at.Err.Error()
	}
	return in
}

// nodeColumns are the columns of Alibaba's lists of nodes (openb, 2023).
var nodeColumns = []string{"cpu_milli", "memory_mib", "gpu", "model"}

// readNodes reads a list of nodes and groups equal nodes, in the order of their first
// nodes.
func readNodes(c *Capacity, b []byte) ([]group, error) {
	var out []group
	total, file, columns := 0, c.NodesFile, slices.Clone(nodeColumns)
	for _, d := range c.Domains {
		columns = append(columns, d.Level)
	}
	err := rows(file, b, columns, func(line int, cells []string) error {
		var v [3]int64
		for i, most := range []int64{1e9, 1e12, maxPerNode} {
			n, err := strconv.ParseInt(cmp.Or(cells[i], "0"), 10, 64)
			if err != nil || n < 0 || n > most {
				return &capcli.InputError{File: file, Line: line, Field: nodeColumns[i], Text: fmt.Sprintf("want a whole number of 0 to %d, found %s", most, capcli.Quoted(cells[i]))}
			}
			v[i] = n
		}
		g := group{model: cells[3], nodes: 1, gpus: int(v[2]), cpu: v[0], mem: v[1]}
		if total += g.gpus; total > maxGPUs {
			return &capcli.InputError{File: file, Line: line, Text: fmt.Sprintf("over %d GPUs in one pool", maxGPUs)}
		}
		if path := cells[len(nodeColumns):]; len(path) > 0 {
			if at := slices.Index(path, ""); at >= 0 {
				return &capcli.InputError{File: file, Line: line, Field: columns[len(nodeColumns)+at], Text: "is empty; want the domain that the node is in"}
			}
			g.paths = [][]string{slices.Clone(path)}
		}
		for i := range out {
			if o := &out[i]; o.model == g.model && o.gpus == g.gpus && o.cpu == g.cpu && o.mem == g.mem {
				o.nodes++
				o.paths = append(o.paths, g.paths...)
				return nil
			}
		}
		if len(out) == maxCapacity {
			return &capcli.InputError{File: file, Line: line, Text: fmt.Sprintf("over %d kinds of node", maxCapacity)}
		}
		out = append(out, g)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = &capcli.InputError{File: file, Text: "the list has no nodes"}
	}
	for i := range out {
		slices.SortStableFunc(out[i].paths, slices.Compare)
	}
	nameGroups(out, c.Name)
	return out, err
}

// nameGroups gives each group a unique name made of the pool, the model and the GPUs of a node.
func nameGroups(groups []group, pool string) {
	taken := map[string]bool{}
	for i := range groups {
		g := &groups[i]
		g.name = pool
		if len(groups) > 1 {
			g.name = fmt.Sprintf("%s/%s-%dgpu", pool, cmp.Or(g.model, "any"), g.gpus)
			if g.gpus == 0 {
				g.name = pool + "/cpu"
			}
		}
		stem := g.name
		for k := 2; taken[g.name]; k++ {
			g.name = fmt.Sprintf("%s-%d", stem, k)
		}
		taken[g.name] = true
	}
}

// readPredictions reads predicted run times by job.
func readPredictions(file string, b []byte) (map[string]capcli.Seconds, error) {
	out := map[string]capcli.Seconds{}
	err := rows(file, b, []string{"job_id", "predicted_s"}, func(line int, cells []string) error {
		v, err := strconv.ParseFloat(cells[1], 64)
		if err != nil || !(v >= 0 && v <= float64(strict.Longest)) {
			return &capcli.InputError{File: file, Line: line, Field: "predicted_s", Text: "want seconds, found " + capcli.Quoted(cells[1])}
		}
		if _, twice := out[cells[0]]; twice {
			return &capcli.InputError{File: file, Line: line, Field: "job_id", Text: "job " + capcli.Quoted(cells[0]) + " is there twice"}
		}
		out[cells[0]] = capcli.Seconds(v + 0.5)
		return nil
	})
	return out, err
}
