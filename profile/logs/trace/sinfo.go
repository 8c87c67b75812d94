package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// sinfoHint is how to print what nodeList reads.
const sinfoHint = "print it with: sinfo -N -o '%N|%c|%m|%G|%t', or sinfo --json"

// sniffSinfo reports whether head is what sinfo, or scontrol show nodes --json, printed.
func sniffSinfo(head []byte) bool {
	if text := beginsJSON(head); len(text) > 0 && text[0] == '{' {
		has := func(word string) bool { return bytes.Contains(text, []byte(word)) }
		return has(`"sinfo"`) && has(`"nodes"`) || has(`"nodes"`) && has(`"real_memory"`) && has(`"gres"`)
	}
	cols := wordsOf(head)
	return (cols["NODELIST"] || cols["HOSTNAMES"]) && (cols["GRES"] || cols["AVAIL"] || cols["PARTITION"] && cols["NODES"] || cols["STATE"] && cols["CPUS"]) && !cols["JOBID"]
}

// nodeList collects the nodes of sinfo, each once: sinfo shows a node in each of its partitions.
type nodeList struct {
	r        *Reader
	seen     map[string]bool
	rows     [][]string
	out      int64 // nodes that take no jobs
	outGPUs  int64
	mixed    int64
	anyInput bool
}

// slurmNodes are equal nodes of sinfo.
type slurmNodes struct{ names, cpus, mem, gres, state string }

func (c *nodeList) read(in *Reader, head []byte) error {
	c.anyInput = true
	c.r.AllowEmpty()
	if text := beginsJSON(head); len(text) > 0 && text[0] == '{' {
		return c.readJSON(in, text)
	}
	var names []string
	sep := byte(0)
	for {
		line, n, ok := in.Line()
		if !ok {
			return nil
		}
		if len(trim(line)) == 0 {
			continue
		}
		cells := splitColumns(line, sep)
		if names == nil {
			sep = columnSeparator(line)
			for _, name := range splitColumns(line, sep) {
				names = append(names, string(name))
			}
			if capcli.FindColumn(names, "GRES") < 0 {
				return in.fault(n, "", "the listing of sinfo lacks GRES, which has the GPUs; it has "+strings.Join(capcli.Abridge(names, 20), ", "), sinfoHint)
			}
			continue
		}
		if len(cells) != len(names) {
			return in.fault(n, "", fmt.Sprintf("%d columns, the header has %d", len(cells), len(names)), sinfoHint)
		}
		cell := func(options ...string) string {
			if at := capcli.FindColumn(names, options...); at >= 0 {
				return string(cells[at])
			}
			return ""
		}
		nodes := slurmNodes{names: cell("NODELIST", "HOSTNAMES"), cpus: cell("CPUS"), mem: cell("MEMORY"), gres: cell("GRES"), state: cell("STATE")}
		if err := c.add(in, n, nodes); err != nil {
			return err
		}
	}
}

// readJSON adds the nodes of JSON that begins with head.
func (c *nodeList) readJSON(in *Reader, head []byte) error {
	list := "nodes"
	if bytes.Contains(head, []byte(`"sinfo"`)) && !bytes.Contains(head, []byte(`"real_memory"`)) {
		list = "sinfo"
	}
	return in.eachObject(list, "sinfo --json", func(raw []byte, line int) (bool, error) {
		n, err := parseNodes(raw)
		if err != nil {
			return false, in.fault(line, "", jsonFlaw(err), sinfoHint)
		}
		return true, c.add(in, line, n)
	}, func() error { return nil })
}

// parseNodes reads an object of sinfo --json: one node (up to 22.05, and scontrol), or equal nodes (since 23.02).
func parseNodes(raw []byte) (slurmNodes, error) {
	type words []string
	var o struct {
		Name    string          `json:"name"`
		State   json.RawMessage `json:"state"`
		Flags   words           `json:"state_flags"`
		RealMem slurmNumber     `json:"real_memory"`
		CPUs    json.RawMessage `json:"cpus"`
		GRES    json.RawMessage `json:"gres"`
		Node    struct {
			State json.RawMessage `json:"state"`
		} `json:"node"`
		Nodes struct {
			Nodes words `json:"nodes"`
		} `json:"nodes"`
		Memory struct {
			Maximum slurmNumber `json:"maximum"`
		} `json:"memory"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return slurmNodes{}, err
	}
	out := slurmNodes{names: o.Name, state: wordsText(o.State) + " " + wordsText(o.Node.State) + " " + strings.Join(o.Flags, " ")}
	if len(o.Nodes.Nodes) > 0 {
		out.names = strings.Join(o.Nodes.Nodes, ",")
	}
	var group struct {
		Total   string      `json:"total"`
		Maximum slurmNumber `json:"maximum"`
	}
	if json.Unmarshal(o.GRES, &out.gres) != nil && json.Unmarshal(o.GRES, &group) == nil {
		out.gres = group.Total
	}
	var cpus slurmNumber
	if bytes.Contains(o.CPUs, []byte(`"maximum"`)) {
		var perNode struct {
			Maximum slurmNumber `json:"maximum"`
		}
		if err := json.Unmarshal(o.CPUs, &perNode); err != nil {
			return out, err
		}
		cpus = perNode.Maximum
	} else if len(o.CPUs) > 0 {
		if err := json.Unmarshal(o.CPUs, &cpus); err != nil {
			return out, err
		}
	}
	mem := o.RealMem
	if !mem.isKnown {
		mem = o.Memory.Maximum
	}
	out.cpus, out.mem = string(cpus.append(nil)), string(mem.append(nil))
	return out, nil
}

// wordsText returns a JSON text, or the texts of a list with blanks between them.
func wordsText(raw json.RawMessage) string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, " ")
	}
	var text string
	_ = json.Unmarshal(raw, &text) // other values say nothing of the state
	return text
}

// outStates begin the words of states in which a node takes no jobs; * marks one that does not answer.
var outStates = []string{"down", "drain", "drng", "fail", "unk", "maint", "inval", "futr", "future", "not_responding", "reboot", "power_down", "pow_dn"}

// add adds equal nodes that were not there before.
func (c *nodeList) add(in *Reader, line int, n slurmNodes) error {
	names, ok := ExpandHosts(n.names)
	if !ok {
		return in.fault(line, "NODELIST", "want a list of nodes such as n1 or n[1-8,12], found "+capcli.Quoted(n.names), sinfoHint)
	}
	gpu, bad := parseGRES([]byte(n.gres))
	if bad != flawless || gpu.gpus > maxGPUs {
		return in.fault(line, "GRES", "want GPUs such as gpu:a100:8, found "+capcli.Quoted(n.gres), sinfoHint)
	}
	number := func(field, text string) (int64, error) {
		text = strings.TrimSuffix(text, "+") // the least of several nodes
		v, flaw := optional([]byte(text), 1)
		if flaw != flawless || v > 1<<40 {
			return 0, in.fault(line, field, "want a whole number, found "+capcli.Quoted(text), sinfoHint)
		}
		return v, nil
	}
	cpus, err := number("CPUS", n.cpus)
	if err != nil {
		return err
	}
	mem, err := number("MEMORY", n.mem)
	if err != nil {
		return err
	}
	gone := strings.Contains(n.state, "*")
	for word := range strings.FieldsSeq(strings.ToLower(strings.NewReplacer("+", " ", "-", " ", ",", " ").Replace(n.state))) {
		gone = gone || slices.ContainsFunc(outStates, func(s string) bool { return strings.HasPrefix(word, s) })
	}
	for _, name := range names {
		switch {
		case c.seen[name]:
			continue
		case gone:
			c.out++
			c.outGPUs += gpu.gpus
		default:
			if gpu.models > 1 {
				c.mixed++
			}
			c.rows = append(c.rows, []string{
				name, strconv.FormatInt(cpus*1000, 10), strconv.FormatInt(mem, 10), strconv.FormatInt(gpu.gpus, 10), gpu.model,
			})
		}
		c.seen[name] = true
	}
	return nil
}

// tell passes the table of nodes on, and says which nodes are not in it.
func (c *nodeList) tell() {
	if !c.anyInput {
		return
	}
	slices.SortStableFunc(c.rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if c.r.o.Tables != nil {
		c.r.o.Tables(Table{NodesTable, append([][]string{{"sn", "cpu_milli", "memory_mib", "gpu", "model"}}, c.rows...)})
	}
	total := int64(0)
	for _, row := range c.rows {
		n, _ := strconv.ParseInt(row[3], 10, 64)
		total += n
	}
	c.r.Note(fmt.Sprintf("sinfo: %s %s with %s %s take jobs", capcli.Grouped(int64(len(c.rows))), capcli.Plural(int64(len(c.rows)), "node"), capcli.Grouped(total), capcli.Plural(total, "GPU")))
	if c.out > 0 {
		c.r.Note(fmt.Sprintf("%s %s with %s %s are down, drained or under maintenance: not among the nodes",
			capcli.Grouped(c.out), capcli.Plural(c.out, "node"), capcli.Grouped(c.outGPUs), capcli.Plural(c.outGPUs, "GPU")))
	}
	if c.mixed > 0 {
		c.r.Note(fmt.Sprintf("%s with GPUs of several models: named by the most frequent", capcli.Grouped(c.mixed)+" "+capcli.Plural(c.mixed, "node")))
	}
}

// mostHosts is the most nodes of one list.
const mostHosts = 100_000

// ExpandHosts returns the names of a hostlist of Slurm: n[1-2,05],x1 are n1, n2, n05 and x1. A name may have
// several lists in brackets.
func ExpandHosts(list string) (out []string, ok bool) {
	for list != "" {
		var part string
		part, list = cutHosts(list)
		names, ok := expandHost(part)
		if !ok {
			return nil, false
		}
		if out = append(out, names...); len(out) > mostHosts {
			return nil, false
		}
	}
	return out, len(out) > 0
}

// cutHosts cuts a hostlist at its first comma outside of brackets.
func cutHosts(list string) (first, rest string) {
	depth := 0
	for i := range len(list) {
		switch c := list[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

// expandHost returns the names of one element of a hostlist: n[1-2]-ib.
func expandHost(part string) (names []string, ok bool) {
	names = []string{""}
	for part != "" {
		plain, rest, bracket := strings.Cut(part, "[")
		inner, after, closed := strings.Cut(rest, "]")
		part = after
		tails := []string{""}
		if bracket {
			if tails, ok = expandRange(inner, mostHosts); !ok || !closed || len(tails)*len(names) > mostHosts {
				return nil, false
			}
		}
		var longer []string
		for _, n := range names {
			for _, t := range tails {
				longer = append(longer, n+plain+t)
			}
		}
		names = longer
	}
	return names, names[0] != ""
}
