package billing

// useColumns are the columns of metered use, each with the names it may have.
var useColumns = [...]struct {
	names []string
	doc   string
}{
	{[]string{"start"}, "when it began: 2027-01-01T00:00:00Z, or seconds since 1970"},
	{[]string{"end"}, "when it ended, if seconds are not given"},
	{[]string{"seconds", "run_s", "duration_s"}, "how long it lasted"},
	{[]string{"units", "gpus", "instances"}, "how many units at once, up to three decimals; 1 where left out"},
	{[]string{"instance_type", "sku"}, "p5.48xlarge: family and size"},
	{[]string{"gpu_model"}, "H100"},
	{[]string{"provider"}, "aws, azure, gcp"},
	{[]string{"region"}, ""},
	{[]string{"zone"}, ""},
	{[]string{"service"}, "what savings plans sort by: ec2, fargate"},
	{[]string{"os"}, "linux where left out"},
	{[]string{"tenant", "team"}, "who used it"},
	{[]string{"account"}, "who is billed"},
	{[]string{"job", "job_id"}, ""},
	{[]string{"class"}, "what kind of job it is, for the cost of each: training"},
	{[]string{"kind"}, "on_demand (where left out), spot or reserved"},
	{[]string{"price", "on_demand_price"}, "public on-demand price of a unit for an hour"},
	{[]string{"contracted_price"}, "negotiated on-demand price"},
	{[]string{"spot_price"}, "spot price of a unit for an hour"},
	{[]string{"capacity"}, "id of the commitment or capacity reservation that it ran in"},
	{[]string{"min_billing_s"}, "least time billed; 60 on aws, azure and gcp where left out, else 0"},
	{[]string{"ended_by"}, "user (where left out) or provider: a spot interruption"},
	{[]string{"currency"}, "USD where left out; one for the whole file"},
}

// The places of useColumns.
const (
	useStart = iota
	useEnd
	useSeconds
	useUnits
	useInstance
	useModel
	useProvider
	useRegion
	useZone
	useService
	useOS
	useTenant
	useAccount
	useJob
	useClass
	useKind
	usePrice
	useContracted
	useSpot
	useCapacity
	useMinimum
	useEnded
	useCurrency
	numUseColumns
)

// allUseColumns gives each column of a file of metered use and a line about it.
func allUseColumns() [][2]string {
	out := make([][2]string, len(useColumns))
	for i, c := range useColumns {
		out[i] = [2]string{c.names[0], c.doc}
	}
	return out
}
