package sluice

// A Resource is a sort of thing that people list, store and delete by commands of the
// same shape: on pages, on the command line and in files.
type Resource struct {
	Name   string // of one
	Key    string // parameter and field with the name of a thing
	Page   string // of the portal; "" means that there is none
	Get    string // commands
	Put    string // "" means that there is none
	Remove string // "" means that there is none
	Effect string // of a deletion
}

// orphans says what becomes of pipelines whose owner is deleted.
const orphans = "; pipelines with this owner fail where they switch users or use secrets, until another user stores " +
	"them."

var resources = []Resource{
	{
		Name: "webhook", Key: "eventKey", Page: "/webhooks", Get: "webhook.get", Put: "webhook.put",
		Remove: "webhook.delete",
		Effect: "Calls to it are refused from then on.",
	}, {
		Name: "pipeline", Key: "name", Page: "/pipelines", Get: "pipeline.get", Put: "pipeline.put",
		Remove: "pipeline.delete",
		Effect: "Events don't start it any more.",
	}, {
		Name: "user", Key: "username", Page: "/users", Get: "iam.user.get", Put: "iam.user.put",
		Remove: "iam.user.delete",
		Effect: "The user is signed out at once, and the password and all tokens are refused from then on" + orphans,
	}, {
		Name: "role", Key: "role", Page: "/roles", Get: "iam.role.get", Put: "iam.role.put", Remove: "iam.role.delete",
		Effect: "Users and clients with the role lose its permissions at once. A built-in role gets its original " +
			"permissions back instead.",
	}, {
		Name: "client", Key: "clientId", Page: "/clients", Get: "iam.client.get", Put: "iam.client.put",
		Remove: "iam.client.delete",
		Effect: "The program's secret and tokens are refused from then on, and so are the logins of people who let " +
			"it in" + orphans,
	}, {
		Name: "secret", Key: "name", Page: "/secrets", Get: "secret.get", Put: "secret.put", Remove: "secret.delete",
		Effect: "Webhooks and pipelines that use it fail from then on, except webhooks that have another one. The " +
			"value can't be brought back.",
	},
}

// ResourceNamed returns the resource of a name. It panics if there is none, since that is
// a mistake in the program.
func ResourceNamed(name string) Resource {
	for _, r := range resources {
		if r.Name == name {
			return r
		}
	}
	panic("there is no resource " + name)
}
