package sender

func telegram() Preset {
	return Preset{
		Name: "telegram", Title: "Telegram",
		Checks:       "X-Telegram-Bot-Api-Secret-Token: the secret itself; the body is not signed",
		Unsigned:     true,
		Secret:       "the secret_token of the bot's webhook",
		SecretChosen: true,
		Dedupe:       "body:update_id",
		Retries:      "24h",
		Setup: [3]string{
			"Make a bot with @BotFather and copy its token.",
			"Call https://api.telegram.org/bot<token>/setWebhook; url is the webhook's URL, secret_token a random text of letters and digits, the same as the `signingSecret`.",
			"…/getWebhookInfo tells how many updates wait, and the last error.",
		},
		Masked:  []string{"x-telegram-bot-api-secret-token"},
		checker: byToken("X-Telegram-Bot-Api-Secret-Token", ""),
	}
}
