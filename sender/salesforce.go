package sender

import "sluice"

// salesforceAck is the answer without which Salesforce sends a message again, for a day.
const salesforceAck = `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>`

func salesforce() Preset {
	return Preset{
		Name: "salesforce", Title: "Salesforce",
		Checks:         "nothing, since Salesforce does not sign its outbound messages: the URL is the secret",
		Unsigned:       true,
		SecretOptional: true,
		Dedupe:         "off",
		Answers:        Answers{Form: sluice.AnswerEmpty, Type: "text/xml; charset=utf-8", None: salesforceAck, Words: "the SOAP acknowledgement, as soon as the event is stored and whatever pipelines do"},
		Retries:        "24h",
		Setup: [3]string{
			"In Setup, Outbound Messages: New Outbound Message, and choose the object. Salesforce does not sign, so there is no `signingSecret`; its client certificate (Setup, API Client Certificate) can be demanded with `clientCertificate`.",
			"Endpoint URL is the webhook's URL. Choose the fields, and leave Send Session ID off: it would give pipelines a login.",
			"Let a flow or a workflow rule send the message. One call has up to 100 notifications, each with an Id, and may come again with others.",
		},
	}
}
