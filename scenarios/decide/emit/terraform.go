package emit

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

func init() {
	Targets.Add("terraform", "capacity reservations of AWS, Google Cloud and Azure in Terraform's language", writeTerraform)
}

// resources write a reservation of machines, by provider.
var resources = map[string]func(t *text, x *Pool, count int64){
	"aws": func(t *text, x *Pool, count int64) {
		t.line("variable %q {\n  type        = string\n  description = %s\n}", "zone_"+x.Name, quoteHCL("availability zone in "+x.Machine.Region))
		t.line("resource \"aws_ec2_capacity_reservation\" %q {\n  instance_type     = %s\n  instance_platform = \"Linux/UNIX\"\n  availability_zone = var.zone_%s\n  instance_count    = %d\n  instance_match_criteria = \"targeted\"", x.Name, quoteHCL(x.Machine.Machine), x.Name, count)
		t.count(x)
		if x.Until != "" {
			t.line("  end_date_type     = \"limited\"\n  end_date          = %q", x.Until+"T00:00:00Z")
		} else {
			t.line("  end_date_type     = \"unlimited\"")
		}
		t.line("  tags = { capcli-pool = %q }\n}", x.Name)
	},
	"gcp": func(t *text, x *Pool, count int64) {
		t.line("variable %q {\n  type        = string\n  description = %s\n}", "zone_"+x.Name, quoteHCL("zone in "+x.Machine.Region))
		t.line("resource \"google_compute_reservation\" %q {", x.Name)
		t.count(x)
		t.line("  name = %q\n  zone = var.zone_%s\n  specific_reservation_required = true\n  specific_reservation {\n    count = %d\n    instance_properties {\n      machine_type = %s\n    }\n  }\n}", x.Name, x.Name, count, quoteHCL(x.Machine.Machine))
	},
	"azure": func(t *text, x *Pool, count int64) {
		t.line("variable %q {\n  type        = string\n  description = %s\n}", "resource_group_"+x.Name, quoteHCL("name of the resource group in "+x.Machine.Region))
		t.line("resource \"azurerm_capacity_reservation_group\" %q {", x.Name)
		t.count(x)
		t.line("  name                = %q\n  resource_group_name = var.resource_group_%s\n  location            = %s\n}", x.Name, x.Name, quoteHCL(x.Machine.Region))
		t.line("resource \"azurerm_capacity_reservation\" %q {", x.Name)
		group := x.Name
		if t.count(x) {
			group += "[0]"
		}
		t.line("  name                          = %q\n  capacity_reservation_group_id = azurerm_capacity_reservation_group.%s.id\n  sku {\n    name     = %s\n    capacity = %d\n  }\n  tags = { capcli-pool = %q }\n}", x.Name, group, quoteHCL(x.Machine.Machine), count, x.Name)
	},
}

// dated reports whether the pool is held for a time only.
func (p *Pool) dated() bool { return p.From != "" || p.Until != "" }

// count writes that a resource is there in the pool's time alone. It reports whether the pool has one.
func (t *text) count(x *Pool) bool {
	if x.dated() {
		t.line("  count = local.held_%s ? 1 : 0", x.Name)
	}
	return x.dated()
}

// period writes the time of a pool as a condition on the day of the plan.
func (t *text) period(x *Pool) {
	var terms []string
	if x.From != "" {
		terms = append(terms, fmt.Sprintf("timecmp(local.now, %q) >= 0", x.From+"T00:00:00Z"))
	}
	if x.Until != "" {
		terms = append(terms, fmt.Sprintf("timecmp(local.now, %q) < 0", x.Until+"T00:00:00Z"))
	}
	t.line("locals {\n  held_%s = %s\n}", x.Name, strings.Join(terms, " && "))
}

// clock writes the day by which pools with dates are there.
func (t *text) clock() {
	t.line("")
	t.remark("Each reservation is there from its first day until its last. Terraform makes and removes it when it is")
	t.remark("applied: apply it on those days, or at each of them by schedule.")
	t.line("terraform {\n  required_version = \">= 1.5.0\"\n}")
	t.line("variable \"now\" {\n  type        = string\n  default     = null\n  description = \"instant for which to plan, 2027-01-01T00:00:00Z; default: that of terraform plan\"\n}")
	t.line("locals {\n  now = coalesce(var.now, plantimestamp())\n}")
}

// quoteHCL returns s as a string of Terraform's language, in which ${ and %{ begin code.
func quoteHCL(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.QuoteToASCII(s))
}

// writeTerraform writes a reservation for each reserved pool whose provider is known from its price. Of
// others it writes variables, so that no apply passes before they are filled in.
func writeTerraform(w io.Writer, p *Plan) error {
	var t text
	t.head(p, "Capacity reservations in Terraform for a plan of capcli", "the zone of each reservation; providers and their credentials")
	t.remark("A reservation is billed at the on-demand price until a discount is bought for it. The commitment")
	t.remark("itself (a term of one or three years) is no resource here: buy it with your provider.")
	if slices.ContainsFunc(p.Pools, func(x Pool) bool { return x.Terms == "reserved" && x.dated() }) {
		t.clock()
	}
	written := 0
	for i := range p.Pools {
		x := &p.Pools[i]
		if x.Terms != "reserved" {
			t.remark("%s (%s) takes no reservation: %s", x.Name, x.Terms, x.Source)
			continue
		}
		written++
		t.line("")
		t.remark("%s: %d GPUs, %s", x.Name, x.GPUs, x.Source)
		if x.dated() {
			t.period(x)
		}
		write := resources[x.Machine.Provider]
		if write == nil || x.Machine.GPUs <= 0 || x.Machine.Machine == "" {
			t.remark("FILL IN: the plan does not name the machine of these GPUs (capcli emit --price KEY)")
			t.line("variable %q {\n  type        = object({ machine = string, zone = string, gpus_per_machine = number })\n  description = \"machine of %s: %s GPUs are wanted\"\n}", "machine_"+x.Name, x.Name, digits(x.GPUs))
			machines := fmt.Sprintf("ceil(%d / var.machine_%s.gpus_per_machine)", x.GPUs, x.Name)
			if x.dated() {
				machines = fmt.Sprintf("local.held_%s ? %s : 0", x.Name, machines)
			}
			t.line("output %q {\n  value = %s\n}", "machines_"+x.Name, machines)
			continue
		}
		per := int64(x.Machine.GPUs)
		count := (x.GPUs + per - 1) / per
		if count*per != x.GPUs {
			t.remark("WARNING: %d GPUs are no whole number of machines of %d: %d machines have %s", x.GPUs, per, count, strconv.FormatInt(count*per, 10))
		}
		write(&t, x, count)
	}
	if written == 0 {
		return nothing("the plan reserves nothing: there is no reservation to write")
	}
	return t.writeTo(w)
}
